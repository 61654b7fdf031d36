import RandomValues
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// What the inspector says about an object and a session is what the session does.
@Suite struct SightTests {
    private static let schema = try! Schema([
        RandomPredicates.item,
        ClassSchema(name: "Room", columns: [Column(name: "_id", type: .string, isPrimaryKey: true)]),
    ])

    /// A live session of a device that has the first classes.
    private static func session(
        _ subscriptions: [Subscription], _ authority: SessionAuthority, classCount: Int = 2
    ) -> ServerSession {
        var session = ServerSession(schema: schema)
        let set = SubscriptionSet(version: 1, subscriptions: subscriptions)
        _ = session.handle(
            .message(
                .hello(
                    Hello(
                        accessToken: "token", client: F.client, position: .none, activeSubscriptions: .empty,
                        wantedSubscriptions: set, acknowledged: 0,
                        classes: Array(HelloClass.describe(schema).prefix(classCount))))))
        _ = session.handle(.authenticated(authority))
        _ = session.handle(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .none))
        return session
    }

    private static func goLive(_ session: inout ServerSession) {
        _ = session.handle(
            .readFinished(
                BatchEnd(
                    position: .none, serverTime: Stamp(microseconds: 1), acknowledged: 0, refusals: [],
                    replacesAll: true, frameCount: 0), F.tick(3)))
    }

    @Test("an explanation finds no obstacle exactly when the feed would send the object")
    func agreesWithTheFeed() throws {
        var random = RandomPredicates(.printed(for: "sight"))
        var seen = 0
        var kinds: Set<String> = []
        for _ in 0..<400 {
            let subscriptions = (0..<random.random.int(0...3)).map { number in
                Subscription(
                    name: random.random.flag() ? "s\(number)" : nil, className: random.random.flag(5) ? "Room" : "Item",
                    predicate: random.predicate())
            }.filter { (try? SubscriptionSet(version: 1, subscriptions: [$0]).check(in: Self.schema)) != nil }
            let readable = random.random.flag(3) ? random.predicate() : .constant(!random.random.flag(6))
            let authority = SessionAuthority(
                user: "user", rulesFingerprint: 5, readable: { $0 == 0 ? readable : .constant(true) },
                permit: { _ in nil })
            var session = Self.session(subscriptions, authority, classCount: 2)
            try #require(!session.isClosed)
            Self.goLive(&session)
            for _ in 0..<8 {
                let row = random.row()
                let sight = session.sight(of: row, classIndex: 0)
                let change = RootChange(
                    reference: ObjectReference(classIndex: 0, key: row[0]), old: nil, new: row)
                let live = LiveTick(
                    tick: F.tick(4), previous: 3,
                    difference: TickDifference(from: 3, to: 4, changes: [change], clients: [:]),
                    progress: [:])
                let batches = LiveFeed<Int>.match(
                    [live], with: session.liveView, client: F.client, schema: Self.schema)
                let isSent = batches.contains { $0.frames != nil }
                try #require(sight.isVisible == isSent, "\(subscriptions) \(readable) \(row.values)")
                try #require(sight.obstacles.isEmpty == isSent, "\(sight.obstacles) \(row.values)")
                seen += isSent ? 1 : 0
                for obstacle in sight.obstacles {
                    switch obstacle {
                    case .notSubscribed: kinds.insert("notSubscribed")
                    case .notMatched(let misses):
                        kinds.insert("notMatched")
                        for miss in misses {
                            try #require(!miss.failure.matches(row, of: Self.schema[0]), "\(miss)")
                        }
                    case .notReadable(let failure):
                        kinds.insert("notReadable")
                        try #require(!failure.matches(row, of: Self.schema[0]))
                    default: Issue.record("\(obstacle)")
                    }
                }
            }
        }
        #expect(seen > 50 && kinds == ["notSubscribed", "notMatched", "notReadable"])
    }

    @Test("the part reported as failing does fail, and none is reported if the condition holds")
    func failuresFail() throws {
        var random = RandomPredicates(.printed(for: "failing parts"))
        for _ in 0..<3_000 {
            let predicate = random.predicate()
            let row = random.row()
            let failure = predicate.failure(of: row, of: Self.schema[0])
            try #require((failure == nil) == predicate.matches(row, of: Self.schema[0]), "\(predicate) \(row.values)")
            if let failure { try #require(!failure.matches(row, of: Self.schema[0])) }
        }
    }

    @Test("only the first condition that fails is named")
    func namesTheFirst() {
        func compare(_ name: String, _ value: Int64) -> Predicate {
            .compare(PropertyPath(name), .equal, .int(value))
        }
        let item = F.schema[0]
        let row = Row([.int(1), .int(2)])
        let failure = Predicate.and([compare("_id", 1), compare("group", 3), compare("_id", 4)])
            .failure(of: row, of: item)
        #expect(failure == compare("group", 3))
        let either = Predicate.or([compare("_id", 7), compare("group", 3)])
        #expect(Predicate.and([compare("_id", 1), either]).failure(of: row, of: item) == either)
    }

    @Test("a missing class or an unopened session is named first")
    func deviceWithoutTheClass() {
        let row = Row([.string("a")])
        var session = Self.session([], F.authority, classCount: 1)
        Self.goLive(&session)
        #expect(session.sight(of: row, classIndex: 1).obstacles == [.classNotOnDevice, .notSubscribed])
        let closed = ServerSession(schema: Self.schema)
        #expect(closed.sight(of: row, classIndex: 1).obstacles == [.notOpen(.waiting)])
    }

    @Test("a session in a partition names the mismatch with an object in another partition")
    func partitions() {
        func authority(_ partition: Int64) -> SessionAuthority {
            SessionAuthority(
                user: "user", rulesFingerprint: 5,
                readable: { _ in .compare(PropertyPath("group"), .equal, .int(partition)) }, permit: { _ in nil },
                partition: SessionPartition(value: .int(partition), columns: [0: 1]))
        }
        var session = ServerSession(schema: F.schema)
        _ = session.handle(.message(.hello(F.hello(position: .none, active: .empty, wanted: .empty))))
        _ = session.handle(.authenticated(authority(1)))
        _ = session.handle(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .none))
        #expect(session.sight(of: Row([.int(1), .int(1)]), classIndex: 0).obstacles == [])
        #expect(session.sight(of: Row([.int(1), .int(1)]), classIndex: 0).isVisible)
        #expect(
            session.sight(of: Row([.int(1), .int(2)]), classIndex: 0).obstacles
                == [.otherPartition(column: "group", partition: .int(1))])
    }

    @Test("subscriptions that wait for the batch in progress are told apart from those in effect")
    func waitingSubscriptions() {
        var session = ServerSession(schema: F.schema)
        _ = session.handle(.message(.hello(F.hello(position: .none, active: .empty, wanted: F.groupOne))))
        _ = session.handle(.authenticated(F.authority))
        _ = session.handle(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .none))
        var everything = F.everything
        everything.version = 3
        _ = session.handle(.message(.subscribe(everything)))
        let sight = session.sight(of: Row([.int(1), .int(2)]), classIndex: 0)
        #expect(!sight.isVisible && sight.isWanted)
    }

    @Test("hidden properties are told apart from those that the device doesn't have")
    func properties() {
        let authority = SessionAuthority(
            user: "user", rulesFingerprint: 5, readable: { _ in .constant(true) }, hidden: [0: [1]],
            permit: { _ in nil })
        var session = ServerSession(schema: F.schema)
        _ = session.handle(.message(.hello(F.hello(position: .none, active: .empty, wanted: F.everything))))
        _ = session.handle(.authenticated(authority))
        #expect(session.obstacle(to: "group", classIndex: 0) == .hidden)
        #expect(session.obstacle(to: "_id", classIndex: 0) == nil)
        #expect(session.obstacle(to: "other", classIndex: 0) == .notOnDevice)
    }
}
