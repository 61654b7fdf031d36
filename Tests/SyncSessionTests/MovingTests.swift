import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// A session whose server's model changes continues with other classes.
@Suite struct MovingTests {
    private var session = ServerSession(schema: F.schema)

    private mutating func on(_ event: ServerSession.Event) -> [String] { session.handle(event).map(\.text) }

    /// The fixture's class and property with other names and at other positions.
    private static let renamed = try! Schema([
        ClassSchema(
            name: "Aisle", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)]),
        ClassSchema(
            name: "Thing",
            columns: [
                Column(name: "added", type: .string, isOptional: true),
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "team", type: .int(bits: 64), previousNames: ["group"]),
            ], previousNames: ["Item"]),
    ])

    private static func authority(
        _ fingerprint: UInt64 = 6, team: Int64? = nil, hidden: [Int: Set<Int>] = [:]
    ) -> SessionAuthority {
        SessionAuthority(
            user: "user", rulesFingerprint: fingerprint,
            readable: { _ in team.map { .compare(PropertyPath("team"), .equal, .int($0)) } ?? .constant(true) },
            hidden: hidden, permit: { _ in nil })
    }

    private mutating func goLive(_ subscriptions: SubscriptionSet = F.everything) {
        _ = on(.message(.hello(F.hello(active: subscriptions, wanted: subscriptions))))
        _ = on(.authenticated(F.authority))
        _ = on(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .valid(F.tick(3))))
        _ = on(.readFinished(F.end(3, subscriptions: subscriptions.version), F.tick(3)))
        _ = session.catchUp()
        _ = on(.message(.applied(tick: 3)))
    }

    @Test("A session on hold finishes what is in progress and starts nothing new")
    mutating func held() {
        goLive()
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        let batches = LiveFeed<Int>.match([F.live(4)], with: session.liveView, client: F.client, schema: F.schema)
        let held = session.hold().map(\.text)
        #expect(held == ["unfollow 1"])
        #expect(session.awaitsMove && !session.canMove)
        #expect(on(.live(1, batches[0])) == [], "What the old rules let through is no longer sent.")
        #expect(on(.message(.subscribe(F.groupOne))) == [])
        #expect(!session.canMove)
        #expect(on(.uploaded([.applied(lost: 0)])) == [])
        #expect(session.canMove)
    }

    @Test("A batch in progress is finished before a session moves")
    mutating func reading() {
        goLive()
        _ = on(.message(.subscribe(F.groupOne)))
        _ = session.hold()
        #expect(!session.awaitsMove, "The device may keep talking.")
        #expect(on(.readFinished(F.end(4, frames: 1, subscriptions: 2), F.tick(4))) == ["send end 4 frames 1"])
        #expect(session.canMove)
    }

    @Test("After the move the device gets the difference, with the names that it knows")
    mutating func names() throws {
        goLive(F.groupOne)
        _ = session.hold()
        let actions = session.move(to: Self.renamed, Self.authority())
        #expect(actions.map(\.text) == ["read from 3 subscriptions 2"], "The same objects are visible.")
        guard case .read(let request) = actions.first else { return }
        let thing = try #require(Self.renamed.index(of: "Thing"))
        #expect(request.deviceColumns == [thing: [1, 2]])
        #expect(request.rulesFingerprint == 6)
        #expect(request.schemaFingerprint == F.schemaFingerprint)
        #expect(session.deviceNames.classes == [thing: "Item"])
        #expect(session.deviceNames.columns == [thing: [2: "group"]])
        #expect(!session.isHeld && !session.canMove)
        #expect(
            on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])

        // Then back, as if there were a second rename.
        _ = session.catchUp()
        _ = session.hold()
        #expect(session.move(to: F.schema, F.authority).map(\.text).first?.hasPrefix("failure") != true)
    }

    @Test("What the new rules no longer permit leaves the device")
    mutating func stricterRules() {
        goLive()
        _ = session.hold()
        let actions = session.move(to: Self.renamed, Self.authority(team: 1))
        #expect(actions.map(\.text) == ["read from 3 subscriptions 1 with other queries"])
        guard case .read(let request) = actions.first, let index = Self.renamed.index(of: "Thing") else { return }
        #expect(request.old.predicates == [index: .constant(true)])
        #expect(request.new.predicates == [index: .compare(PropertyPath("team"), .equal, .int(1))])
    }

    @Test("Everything is read again if a property of the device is now hidden, but not if the device lacks it anyway")
    mutating func hidden() throws {
        let thing = try #require(Self.renamed.index(of: "Thing"))
        goLive()
        _ = session.hold()
        #expect(
            session.move(to: Self.renamed, Self.authority(hidden: [thing: [2]])).map(\.text)
                == ["read from nothing subscriptions 1 with other queries"])
        session = ServerSession(schema: F.schema)
        goLive()
        _ = session.hold()
        #expect(
            session.move(to: Self.renamed, Self.authority(hidden: [thing: [0]])).map(\.text)
                == ["read from 3 subscriptions 1"])
    }

    @Test("A session whose classes are gone ends, and its device may reconnect")
    mutating func impossible() throws {
        goLive()
        _ = session.hold()
        let other = try Schema([
            ClassSchema(name: "Item", columns: [Column(name: "_id", type: .string, isPrimaryKey: true)])
        ])
        let actions = session.move(to: other, Self.authority())
        #expect(actions.map(\.text) == ["send failure unavailable", "close"])
        guard case .send(.failure(let failure)) = actions.first else { return }
        #expect(failure.isRetryable)
    }
}
