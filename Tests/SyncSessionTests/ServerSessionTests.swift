import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Transcripts of the gateway's side: event in, actions out.
@Suite struct ServerSessionTests {
    private var session = ServerSession(schema: F.schema)

    private mutating func on(_ event: ServerSession.Event) -> [String] { session.handle(event).map(\.text) }

    private mutating func tell(_ tick: LiveTick) -> [String] { session.tell(tick).map(\.text) }

    /// Up to the first read.
    private mutating func open(
        _ hello: Hello = F.hello(), last: Int64 = 0, check: ServerSession.PositionCheck = .valid(F.tick(3)),
        authority: SessionAuthority = F.authority
    ) -> [String] {
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(authority))
        return on(.opened(ClientOpening(last: last, serverTime: Stamp(microseconds: 1)), check))
    }

    /// Up to the end of the first batch, at tick 3.
    private mutating func goLive(_ hello: Hello = F.hello()) {
        _ = open(hello)
        _ = on(.readFinished(F.end(3), F.tick(3)))
        _ = session.catchUp()
        _ = on(.message(.applied(tick: 3)))
    }

    /// Opens the session: what it reads first.
    private mutating func reading(_ authority: SessionAuthority = F.authority) -> ReadRequest? {
        _ = session.handle(.message(.hello(F.hello())))
        _ = session.handle(.authenticated(authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1))
        return session.handle(.opened(opening, .valid(F.tick(3)))).lazy.compactMap {
            if case .read(let request) = $0 { request } else { nil }
        }.first
    }

    // MARK: Opening

    @Test("A session authenticates, opens and reads its first batch")
    mutating func opening() {
        #expect(on(.message(.hello(F.hello()))) == ["authenticate token"])
        #expect(on(.authenticated(F.authority)) == ["open 7 user acknowledged 0 at 3"])
        #expect(
            on(.opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), .valid(F.tick(3)))) == [
                "send welcome last 0", "read from 3 subscriptions 1",
            ])
        #expect(on(.readFinished(F.end(4, frames: 1), F.tick(4))) == ["send end 4 frames 1", "follow 1 after 4"])
    }

    @Test("A device that lacks nothing but ticks gets them from the feed, and its first batch without a read")
    mutating func resuming() {
        let hello = F.hello(position: F.position(3))
        #expect(open(hello) == ["send welcome last 0", "follow 1 after 3"])
        #expect(session.catchUp().map(\.text) == ["send end 3 frames 0"])
        #expect(tell(F.live(4)) == ["send 1 live", "send end 4 frames 1"])
        session = ServerSession(schema: F.schema)
        _ = open(hello)
        let missed = session.catchUp(F.live(4), F.live(5)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1", "send 1 live", "send end 5 frames 1"])
        #expect(tell(F.live(6)) == ["send 1 live", "send end 6 frames 1"])
    }

    @Test("A device whose ticks the feed doesn't know any more reads the changelog")
    mutating func resumingLate() {
        _ = open(F.hello(position: F.position(3)))
        #expect(on(.ticksGone(1)) == ["read from 3 subscriptions 1"])
        #expect(on(.readFinished(F.end(5), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
        #expect(session.catchUp().isEmpty)
    }

    @Test("A device that the feed keeps waiting still gets its first batch")
    mutating func resumingAfterPause() {
        _ = open(F.hello(position: F.position(3)))
        #expect(on(.followingPaused(1)) == ["unfollow 1"])
        #expect(on(.followingResumed) == ["follow 2 after 3"])
        #expect(session.catchUp().map(\.text) == ["send end 3 frames 0"])
        session = ServerSession(schema: F.schema)
        _ = open(F.hello(position: F.position(3)))
        let first = LiveFeed<Int>.match(
            [F.live(4, group: 2)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(on(.matched(1, first, last: F.tick(4))).contains { $0.hasPrefix("send end 4") })
    }

    @Test(
        "A first batch is read where more than ticks may be missing",
        arguments: ["unacknowledged", "subscriptions", "roles", "classes"])
    mutating func notResuming(_ what: String) {
        var position = F.position(3)
        var hello = F.hello(position: position)
        var last: Int64 = 0
        switch what {
        case "unacknowledged": last = 1
        case "subscriptions": hello.wantedSubscriptions = F.groupOne
        case "roles": position.rulesFingerprint = 6
        default: position.schemaFingerprint = 6
        }
        hello.position = position
        let actions = open(hello, last: last)
        #expect(!actions.contains { $0.hasPrefix("follow") })
    }

    @Test("Everything is read again after a dropped position, changed rules or another schema")
    mutating func unusablePosition() {
        #expect(
            open(check: .expired) == [
                "send welcome last 0 expired", "read from nothing subscriptions 1 with other queries",
            ])
        session = ServerSession(schema: F.schema)
        let changed = SessionAuthority(
            user: "user", rulesFingerprint: 6, readable: { _ in .constant(true) }, permit: { _ in nil })
        #expect(open(authority: changed).last == "read from nothing subscriptions 1 with other queries")
        session = ServerSession(schema: F.schema)
        var otherSchema = F.position(3)
        otherSchema.schemaFingerprint = 1
        #expect(open(F.hello(position: otherSchema)).last == "read from nothing subscriptions 1 with other queries")
    }

    @Test("A device that comes back under other rules gets the difference from what it could read before")
    mutating func formerRules() {
        let now = SessionAuthority(
            user: "user", rulesFingerprint: 6,
            readable: { _ in .compare(PropertyPath("group"), .equal, .int(1)) }, permit: { _ in nil })
        _ = on(.message(.hello(F.hello())))
        _ = on(.authenticated(now))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1))
        #expect(
            on(.opened(opening, .valid(F.tick(3)), formerly: [0: .constant(true)])).last
                == "read from 3 subscriptions 1 with other queries")
    }

    // MARK: Versions of an app

    private static let evolved = try! Schema([
        ClassSchema(
            name: "Thing",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "team", type: .int(bits: 64), isOptional: true, previousNames: ["group"]),
                Column(name: "note", type: .string, isOptional: true),
            ], previousNames: ["Item"])
    ])

    @Test("A device of an older version gets its own names, and zero where a property that it requires is nil")
    mutating func olderVersion() throws {
        session = ServerSession(schema: Self.evolved)
        let request = try #require(reading())
        #expect(session.deviceNames.classes == [0: "Item"])
        #expect(session.deviceNames.columns == [0: [1: "group"]])
        var block = RowBlock(schema: Self.evolved, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .null, .null]))
        block.append(Row([.int(2), .int(5), .null]))
        let masked = request.mask.apply(to: BatchFrame(sequence: 0, blocks: [block]), schema: Self.evolved)
        let bytes = MessageCodec(schema: Self.evolved, names: session.deviceNames).encode(.frame(masked))
        guard case .frame(let frame) = try MessageCodec(schema: F.schema).decodeServerMessage(bytes) else {
            Issue.record("no frame")
            return
        }
        let rows = (0..<2).map { row in (0..<2).map { frame.blocks[0].value(row: row, position: $0, schema: F.schema) }
        }
        #expect(rows == [[.int(1), .int(0)], [.int(2), .int(5)]])
    }

    private static func hiding(_ columns: Set<Int>, fingerprint: UInt64 = 5) -> SessionAuthority {
        SessionAuthority(
            user: "user", rulesFingerprint: fingerprint, readable: { _ in .constant(true) }, hidden: [0: columns],
            permit: { _ in nil })
    }

    @Test("A property that the user may not read is sent as nil or zero, and no subscription looks at it")
    mutating func hiddenProperty() throws {
        let request = try #require(reading(Self.hiding([1])))
        var block = RowBlock(schema: F.schema, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .int(7)]))
        let frame = request.mask.apply(to: BatchFrame(sequence: 0, blocks: [block]), schema: F.schema)
        #expect(frame.blocks[0].value(row: 0, position: 1, schema: F.schema) == .int(0))
        #expect(on(.message(.subscribe(F.groupOne))) == ["send failure badSubscription", "close"])
    }

    private static let embedding = try! Schema([
        ClassSchema(
            name: "Item",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "group", type: .int(bits: 64)),
                Column(name: "address.secret", type: .string, isOptional: true, previousNames: ["address.former"]),
                Column(name: "address.zip", type: .string, isOptional: true),
            ])
    ])

    @Test(
        "No subscription looks at a hidden property of an embedded object, however its path is cut",
        arguments: [
            ["address", "secret"], ["address.secret"], ["address", "former"], ["address.former"],
        ])
    mutating func hiddenEmbeddedProperty(path: [String]) {
        func set(_ path: [String]) -> SubscriptionSet {
            SubscriptionSet(
                version: 2,
                subscriptions: [
                    Subscription(
                        name: "one", className: "Item",
                        predicate: .not(.compare(PropertyPath(path), .equal, .string("x"))))
                ])
        }
        session = ServerSession(schema: Self.embedding)
        _ = open(authority: Self.hiding([2]))
        #expect(on(.message(.subscribe(set(path)))) == ["send failure badSubscription", "close"])
        session = ServerSession(schema: Self.embedding)
        _ = open(authority: Self.hiding([2]))
        #expect(on(.message(.subscribe(set(["address", "zip"])))) == [], "Others may be looked at.")
    }

    @Test("Rules that hide a property replace everything, and end a session whose subscription looks at it")
    mutating func newlyHidden() {
        goLive()
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "unfollow 1", "read from nothing subscriptions 1 with other queries",
            ])
        session = ServerSession(schema: F.schema)
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "unfollow 1", "send failure badSubscription", "close",
            ])
    }

    @Test("A property that is hidden while a batch is read begins the batch anew")
    mutating func hiddenWhileReading() {
        _ = open()
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "read from nothing subscriptions 1 with other queries"
            ])
    }

    @Test("A device whose former subscriptions look at a hidden property gets everything, not what matches no longer")
    mutating func formerSubscriptionOnHiddenProperty() {
        let hello = F.hello(active: F.groupOne, wanted: F.everything)
        #expect(
            open(hello, authority: Self.hiding([1])).last
                == "read from nothing subscriptions 1 with other queries")
        session = ServerSession(schema: F.schema)
        #expect(open(hello, authority: Self.hiding([])).last == "read from 3 subscriptions 1 with other queries")
    }

    @Test("Subscriptions that changed offline are read as a difference")
    mutating func offlineSubscriptions() {
        #expect(open(F.hello(wanted: F.groupOne)).last == "read from 3 subscriptions 2 with other queries")
    }

    @Test("A position from another history resets the device")
    mutating func foreignHistory() {
        #expect(open(check: .foreign) == ["send reset", "close"])
        #expect(session.isClosed)
    }

    @Test("A device from another history is told first what it proved the server to have")
    mutating func foreignHistoryWithUploads() {
        _ = open(last: 1, check: .foreign)
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
    }

    @Test("A client that the store says must reset is reset")
    mutating func mustReset() {
        _ = on(.message(.hello(F.hello())))
        _ = on(.authenticated(F.authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1), mustReset: "another user")
        #expect(on(.opened(opening, .valid(F.tick(3)))) == ["send reset", "close"])
    }

    @Test(
        "A session speaks the device's protocol version",
        arguments: ProtocolVersion.oldest...ProtocolVersion.current)
    mutating func version(version: Int) {
        var hello = F.hello()
        hello.protocolVersion = version
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(F.authority))
        let opening = ClientOpening(last: 0, serverTime: Stamp(microseconds: 1), mustReset: nil)
        guard case .send(.welcome(let welcome)) = session.handle(.opened(opening, .valid(F.tick(3)))).first else {
            return #expect(Bool(false))
        }
        #expect(welcome.protocolVersion == version)
    }

    @Test("A hello of an unknown version, class or subscription is refused with the reason")
    mutating func badHellos() {
        var hello = F.hello()
        hello.protocolVersion = 99
        #expect(on(.message(.hello(hello))) == ["send failure unsupportedVersion", "close"])
        session = ServerSession(schema: F.schema)
        hello = F.hello()
        hello.classes = [HelloClass(name: "Itm", columns: ["_id: int"])]
        _ = on(.message(.hello(hello)))
        guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
            return #expect(Bool(false))
        }
        #expect(failure.code == .badSchema)
        #expect(failure.message.contains("Did you mean Item?"))
        session = ServerSession(schema: F.schema)
        let unknown = Subscription(name: nil, className: "Nothing", predicate: .constant(true))
        hello = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        _ = on(.message(.hello(hello)))
        #expect(on(.authenticated(F.authority)) == ["send failure badSubscription", "close"])
    }

    @Test("A hello's classes aren't checked until its sender is authenticated")
    mutating func unauthenticatedHello() {
        var hello = F.hello()
        hello.classes = [HelloClass(name: "Nothing", columns: [])]
        #expect(on(.message(.hello(hello))) == ["authenticate token"])
        #expect(
            on(.failed(SessionFailure(.notAuthenticated, "no"))) == ["send failure notAuthenticated", "close"])
    }

    @Test("A failure quotes only the beginning of a long name")
    mutating func longNames() {
        let long = String(repeating: "Item", count: 100_000)
        let unknown = Subscription(name: nil, className: long, predicate: .constant(true))
        var withClass = F.hello()
        withClass.classes = [HelloClass(name: long, columns: [])]
        var withColumn = F.hello()
        withColumn.classes = [HelloClass(name: "Item", columns: [long + ": int"])]
        let withQuery = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        for hello in [withClass, withColumn, withQuery] {
            session = ServerSession(schema: F.schema)
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.message.contains("ItemItem"))
            #expect(failure.message.utf8.count <= ServerSession.maximumFailureLength + 3)
        }
    }

    @Test("A failure is cut by bytes, even if a name has few characters")
    mutating func aFailureQuotesLittleOfALongCharacter() {
        let long = "Item" + String(repeating: "\u{301}", count: 100_000)
        let unknown = Subscription(name: long, className: long, predicate: .constant(true))
        let path = Subscription(
            name: nil, className: "Item", predicate: .compare(PropertyPath(long), .equal, .int(1)))
        var withClass = F.hello()
        withClass.classes = [HelloClass(name: long, columns: [])]
        var withColumn = F.hello()
        withColumn.classes = [HelloClass(name: "Item", columns: [long + ": int"])]
        let withQuery = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [unknown]))
        let withPath = F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [path]))
        for hello in [withClass, withColumn, withQuery, withPath] {
            session = ServerSession(schema: F.schema)
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.message.utf8.count <= 500)
        }
        session = ServerSession(schema: F.schema)
        guard case .send(.failure(let failure)) = session.handle(.failed(SessionFailure(.badMessage, long))).first
        else { return #expect(Bool(false)) }
        #expect(failure.message.utf8.count <= ServerSession.maximumFailureLength + 3)
    }

    @Test("A hello that names a class or a property twice is refused")
    mutating func namesOfAHelloAreDifferent() throws {
        let item = try #require(HelloClass.describe(F.schema).first { $0.name == "Item" })
        let column = try #require(item.columns.last)
        for classes in [
            [item, item], [HelloClass(name: "Item", columns: item.columns + [column])],
            [HelloClass(name: "Item", columns: item.columns + [item.columns[0]])],
        ] {
            session = ServerSession(schema: F.schema)
            var hello = F.hello()
            hello.classes = classes
            _ = on(.message(.hello(hello)))
            guard case .send(.failure(let failure)) = session.handle(.authenticated(F.authority)).first else {
                return #expect(Bool(false))
            }
            #expect(failure.code == .badSchema)
            #expect(failure.message.contains("Item"))
            #expect(failure.message.contains("twice"))
        }
    }

    @Test("A subscription that searches for a long text, or a set that searches too often, is refused by the server")
    mutating func searchesAreBounded() {
        func contains(_ text: String) -> Subscription {
            Subscription(
                name: "search", className: "Item",
                predicate: .text(PropertyPath("name"), .contains, text, ignoringCase: false))
        }
        let long = contains(String(repeating: "a", count: Predicate.maximumNeedleByteCount + 1))
        goLive()
        #expect(
            on(.message(.subscribe(SubscriptionSet(version: 2, subscriptions: [long])))) == [
                "unfollow 1", "send failure badSubscription", "close",
            ])
        session = ServerSession(schema: F.schema)
        _ = on(.message(.hello(F.hello(wanted: SubscriptionSet(version: 2, subscriptions: [long])))))
        #expect(on(.authenticated(F.authority)) == ["send failure badSubscription", "close"])
    }

    @Test("A device whose active set exceeds today's bounds gets everything again instead of a refusal")
    mutating func aSetOfWiderBoundsIsReplaced() {
        let long = Subscription(
            name: nil, className: "Item",
            predicate: .text(
                PropertyPath("name"), .contains, String(repeating: "a", count: Predicate.maximumNeedleByteCount + 1),
                ignoringCase: false))
        let old = SubscriptionSet(version: 1, subscriptions: [long])
        #expect(open(F.hello(active: old)).last?.hasPrefix("read from nothing subscriptions 1") == true)
    }

    @Test("A message out of turn ends the session")
    mutating func outOfTurn() {
        #expect(on(.message(.applied(tick: 1))) == ["send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        _ = on(.message(.hello(F.hello())))
        #expect(on(.message(.upload([F.changeset(1)]))) == ["send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        goLive()
        #expect(on(.message(.hello(F.hello()))) == ["unfollow 1", "send failure badMessage", "close"])
        #expect(tell(F.live(4)).isEmpty)
    }

    // MARK: A copied file

    @Test("The first batch waits until the device has proved its applied changesets")
    mutating func verifying() {
        #expect(open(last: 2) == ["send welcome last 2"])
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])).isEmpty)
        #expect(on(.message(.upload([F.changeset(2)]))) == ["upload [2]"])
        #expect(on(.uploaded([.duplicate])) == ["read from 3 subscriptions 1"])
        #expect(on(.readFinished(F.end(4, acknowledged: 2), F.tick(4))).first == "send end 4 frames 0 acknowledged 2")
    }

    @Test("A copied device file is reset and keeps what it proved to be its own")
    mutating func copiedFile() {
        _ = open(last: 3)
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(
            on(.uploaded([.duplicate, .conflict])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
        session = ServerSession(schema: F.schema)
        _ = open(last: 3)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        #expect(
            on(.message(.upload([]))) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"],
            "The device's queue ends before the server's.")
    }

    @Test("A device whose queue ends during verification is reset once the upload is answered")
    mutating func copyDuringUpload() {
        _ = open(last: 3)
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.message(.upload([]))).isEmpty)
        #expect(on(.uploaded([.duplicate])) == ["send end 3 frames 0 acknowledged 1", "send reset", "close"])
    }

    @Test("A conflict in a live session makes the device reconnect")
    mutating func liveConflict() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.uploaded([.conflict])) == ["unfollow 1", "send failure unavailable", "close"])
    }

    @Test("Progress made by another copy isn't acknowledged")
    mutating func foreignProgress() {
        goLive()
        let progress = ClientProgress(last: 1, refusals: [])
        #expect(tell(F.live(4, progress: progress)) == ["send 1 live", "send end 4 frames 1"])
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(on(.uploaded([.duplicate])) == ["send end 4 frames 0 acknowledged 1"])
    }

    // MARK: Live ticks

    @Test("A session asks for what came after its batch, and is told of each tick from then on")
    mutating func following() {
        _ = open()
        #expect(on(.readFinished(F.end(3), F.tick(3))) == ["send end 3 frames 0", "follow 1 after 3"])
        let missed = session.catchUp(F.live(4), F.live(5)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1", "send 1 live", "send end 5 frames 1"])
        #expect(tell(F.live(6)) == ["send 1 live", "send end 6 frames 1"])
    }

    @Test("Ticks with nothing visible to the device aren't sent")
    mutating func irrelevantTicks() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(tell(F.live(4, group: 2)).isEmpty)
        #expect(tell(F.live(5, group: 1)) == ["send 1 live", "send end 5 frames 1"])
    }

    @Test("Heartbeats move an idle device to the latest tick, now and then")
    mutating func heartbeat() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(heartbeats(ServerSession.positionHeartbeats).isEmpty)
        _ = tell(F.live(4, group: 2))
        #expect(on(.heartbeat) == ["send end 4 frames 0"])
        _ = on(.message(.applied(tick: 4)))
        _ = tell(F.live(5, group: 2))
        #expect(heartbeats(ServerSession.positionHeartbeats - 1).isEmpty)
        #expect(on(.heartbeat) == ["send end 5 frames 0"])
        _ = tell(F.live(6, group: 2))
        #expect(heartbeats(ServerSession.positionHeartbeats).isEmpty, "Not before the device has applied the last one.")
    }

    @Test("What the feed no longer has is read from the changelog, from the last tick that the session was told of")
    mutating func feedGap() {
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        _ = tell(F.live(4, group: 2))
        #expect(on(.ticksGone(1)) == ["read from 4 subscriptions 2"])
        session = ServerSession(schema: F.schema)
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        #expect(on(.ticksGone(1)) == ["read from 3 subscriptions 1"])
    }

    @Test("A session whose ticks are matched aside asks again after them")
    mutating func matchedAside() {
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        let batches = LiveFeed<Int>.match([F.live(4)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(
            on(.matched(1, batches, last: F.tick(5))) == ["send 1 live", "send end 4 frames 1", "follow 2 after 5"])
        #expect(on(.followingEnded(2)) == ["follow 3 after 5"])
    }

    @Test("A session that pauses isn't moved past the ticks that it isn't told of")
    mutating func pausing() {
        goLive()
        #expect(on(.followingPaused(1)) == ["unfollow 1"])
        session.reach(F.tick(4))
        #expect(on(.followingResumed) == ["follow 2 after 3"])
        #expect(on(.followingResumed).isEmpty)
        #expect(on(.followingPaused(1)).isEmpty, "It is another stay by now.")
        let missed = session.catchUp(F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("What was told before the session stopped to follow doesn't count")
    mutating func staleNews() {
        goLive()
        let batches = LiveFeed<Int>.match([F.live(4)], with: session.liveView, client: F.client, schema: F.schema)
        #expect(
            on(.message(.subscribe(F.groupOne))) == ["unfollow 1", "read from 3 subscriptions 2 with other queries"])
        #expect(on(.live(1, batches[0])).isEmpty)
        session.reach(F.tick(9))
        #expect(
            on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
        #expect(on(.live(1, batches[0])).isEmpty)
        #expect(on(.ticksGone(1)).isEmpty)
        session.reach(F.tick(9))
        #expect(on(.ticksGone(2)) == ["read from 5 subscriptions 2"], "Not before the feed has answered.")
    }

    @Test("A session that has moved on skips ticks it no longer needs")
    mutating func oldTicks() {
        _ = open()
        _ = on(.readFinished(F.end(3), F.tick(3)))
        let missed = session.catchUp(F.live(2), F.live(3), F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("A session whose connection is full is told again what it could not take")
    mutating func backpressure() {
        goLive()
        #expect(on(.writable(false)).isEmpty)
        #expect(on(.heartbeat).isEmpty)
        #expect(tell(F.live(4)) == ["unfollow 1"])
        #expect(on(.writable(true)) == ["follow 2 after 3"])
        let missed = session.catchUp(F.live(4)).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1"])
    }

    @Test("A device that applies nothing gets a bounded number of batches")
    mutating func unappliedBatches() {
        goLive()
        var tick: Int64 = 3
        for _ in 0..<ServerSession.maximumUnappliedBatches {
            tick += 1
            #expect(tell(F.live(tick)).count == 2)
        }
        #expect(tell(F.live(tick + 1)) == ["unfollow 1"])
        #expect(on(.message(.applied(tick: 4))) == ["follow 2 after \(tick)"])
    }

    // MARK: Subscriptions and roles

    @Test("New subscriptions are read at once, and nothing else is sent meanwhile")
    mutating func newSubscriptions() {
        goLive()
        #expect(
            on(.message(.subscribe(F.groupOne))) == ["unfollow 1", "read from 3 subscriptions 2 with other queries"])
        #expect(tell(F.live(4)).isEmpty, "Nothing else is sent while a batch is read.")
        #expect(
            on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))) == ["send end 5 frames 0", "follow 2 after 5"])
    }

    @Test("Subscriptions that change during a read are read next")
    mutating func subscribingDuringRead() {
        _ = open()
        #expect(on(.message(.subscribe(F.groupOne))).isEmpty)
        #expect(
            on(.readFinished(F.end(4), F.tick(4))) == [
                "send end 4 frames 0", "read from 4 subscriptions 2 with other queries",
            ])
    }

    @Test("A stale subscription set is ignored")
    mutating func staleSubscriptions() {
        goLive()
        #expect(on(.message(.subscribe(F.everything))).isEmpty)
    }

    @Test("Roles that change bring the difference, also when they change again while it is read")
    mutating func changedRoles() {
        goLive()
        #expect(on(.authorityChanged(F.authority)) == ["unfollow 1", "read from 3 subscriptions 1"])
        #expect(on(.authorityChanged(F.authority)).isEmpty)
        #expect(on(.readFinished(F.end(4), F.tick(4))).last == "read from 4 subscriptions 1")
    }

    // MARK: Uploads

    @Test("Uploads are applied one group at a time")
    mutating func uploads() {
        goLive()
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(on(.message(.upload([F.changeset(3)]))).isEmpty)
        #expect(on(.message(.upload([F.changeset(4)]))).isEmpty)
        #expect(
            on(.uploaded([.applied(lost: 0), .applied(lost: 0, refusals: [F.refused(2).refusal])])) == ["upload [3, 4]"]
        )
    }

    @Test("A tick with an upload's outcome acknowledges it, and each refusal is sent once")
    mutating func acknowledging() {
        goLive()
        _ = on(.message(.upload([F.changeset(1), F.changeset(2)])))
        _ = on(.uploaded([.applied(lost: 0), .applied(lost: 0, refusals: [F.refused(2).refusal])]))
        let progress = ClientProgress(last: 2, refusals: [F.refused(2)])
        #expect(
            tell(F.live(4, key: nil, progress: progress)) == ["send end 4 frames 0 acknowledged 2 refused [2]"])
        #expect(tell(F.live(5)) == ["send 1 live", "send end 5 frames 1"], "Told once.")
    }

    @Test("Refusals from several ticks are sent together, each once, after the device proved its changesets")
    mutating func refusalsOfSeveralTicks() {
        goLive()
        _ = tell(F.live(4, key: nil, progress: ClientProgress(last: 1, refusals: [F.refused(1)])))
        _ = tell(F.live(5, key: nil, progress: ClientProgress(last: 3, refusals: [F.refused(3)])))
        _ = on(.message(.upload([F.changeset(1), F.changeset(2), F.changeset(3)])))
        #expect(
            on(.uploaded([.duplicate, .duplicate, .duplicate])) == [
                "send end 5 frames 0 acknowledged 3 refused [1, 3]"
            ])
        _ = on(.message(.upload([F.changeset(4)])))
        _ = on(.uploaded([.applied(lost: 0)]))
        #expect(
            tell(F.live(6, key: nil, progress: ClientProgress(last: 4, refusals: []))) == [
                "send end 6 frames 0 acknowledged 4"
            ])
    }

    @Test("A tick that overtakes its upload's answer waits for it")
    mutating func earlyTick() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        let tick = F.live(4, progress: ClientProgress(last: 1, refusals: []))
        #expect(tell(tick) == ["unfollow 1"])
        #expect(on(.uploaded([.applied(lost: 0)])) == ["follow 2 after 3"])
        let missed = session.catchUp(tick).map(\.text)
        #expect(missed == ["send 1 live", "send end 4 frames 1 acknowledged 1"])
    }

    @Test("A read that overtakes its upload's answer waits for it")
    mutating func earlyRead() {
        _ = open()
        _ = on(.message(.upload([F.changeset(1)])))
        #expect(on(.readFinished(F.end(4, acknowledged: 1), F.tick(4))).isEmpty)
        #expect(on(.uploaded([.applied(lost: 0)])) == ["send end 4 frames 0 acknowledged 1", "follow 1 after 4"])
    }

    @Test("An unknown base sends everything again and drops uploads sent before that")
    mutating func unknownBase() {
        goLive()
        _ = on(.message(.upload([F.changeset(1), F.changeset(2)])))
        #expect(
            on(.uploaded([.unknownBase, .gap(expected: 1)])) == [
                "unfollow 1", "read from nothing subscriptions 1 with other queries",
            ])
        #expect(on(.message(.upload([F.changeset(3)]))).isEmpty, "Sent before the device stood on the new tick.")
        _ = on(.readFinished(F.end(4, replacesAll: true), F.tick(4)))
        #expect(on(.message(.upload([F.changeset(1, base: 4)]))) == ["upload [1]"])
    }

    @Test("A gap after applied changesets resets the device")
    mutating func changesetGap() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.applied(lost: 0)]))
        _ = on(.message(.upload([F.changeset(2)])))
        #expect(
            on(.uploaded([.gap(expected: 1)])) == ["unfollow 1", "send reset", "close"],
            "The server lost what it had applied.")
    }

    @Test("An upload that skips changesets is refused before the server applies it")
    mutating func skipping() {
        goLive()
        #expect(on(.message(.upload([F.changeset(2)]))) == ["unfollow 1", "send failure badMessage", "close"])
        session = ServerSession(schema: F.schema)
        goLive()
        #expect(
            on(.message(.upload([F.changeset(1), F.changeset(3)]))) == [
                "unfollow 1", "send failure badMessage", "close",
            ])
    }

    @Test("An upload that starts after the server's last changeset instead of the acknowledged one is told why")
    mutating func startingAfterTheServersLast() {
        _ = open(F.hello(acknowledged: 1), last: 3)
        guard case .send(.failure(let failure)) = session.handle(.message(.upload([F.changeset(4)]))).first else {
            return #expect(Bool(false))
        }
        #expect(failure.code == .badMessage)
        #expect(failure.message.contains("changeset 4 where 2 was expected"))
    }

    @Test("A device may repeat changesets it already sent on this connection")
    mutating func sendingAgain() {
        goLive()
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2)]))) == ["upload [1, 2]"])
        #expect(on(.message(.upload([F.changeset(1), F.changeset(2), F.changeset(3)]))).isEmpty)
        #expect(on(.uploaded([.applied(lost: 0), .applied(lost: 0)])) == ["upload [1, 2, 3]"])
    }

    @Test("Too many waiting changesets end the session")
    mutating func tooManyWaiting() {
        goLive()
        _ = on(.message(.upload([F.changeset(1)])))
        let many = (2...Int64(ServerSession.maximumWaitingChangesets + 2)).map { F.changeset($0) }
        #expect(on(.message(.upload(many))) == ["unfollow 1", "send failure tooLarge", "close"])
    }

    @Test("A failure of the store is sent to the device before the session closes")
    mutating func executorFailure() {
        goLive()
        #expect(
            on(.failed(SessionFailure(.unavailable, "database", isRetryable: true))) == [
                "unfollow 1", "send failure unavailable", "close",
            ])
    }

    // MARK: Waiting for the device

    private mutating func heartbeats(_ count: Int) -> [String] {
        for _ in 1..<count { #expect(on(.heartbeat).isEmpty) }
        return on(.heartbeat)
    }

    @Test("A device that doesn't open its session in time is disconnected, whatever it waits for", arguments: 0...2)
    mutating func openingEnds(_ steps: Int) {
        if steps > 0 { _ = on(.message(.hello(F.hello()))) }
        if steps > 1 { _ = on(.authenticated(F.authority)) }
        #expect(
            heartbeats(ServerSession.maximumOpeningHeartbeats) == ["send failure notAuthenticated", "close"])
    }

    @Test("A device that doesn't prove its changesets is told which ones and disconnected")
    mutating func verifyingEnds() {
        _ = open(last: 2)
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        #expect(on(.message(.upload([F.changeset(1)]))) == ["upload [1]"])
        #expect(heartbeats(ServerSession.maximumSilentHeartbeats).isEmpty, "The server has work to do.")
        #expect(on(.uploaded([.duplicate])).isEmpty)
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        guard case .send(.failure(let failure)) = session.handle(.heartbeat).first else {
            return #expect(Bool(false))
        }
        #expect(failure.message.contains("changesets 2 to 2"))
        #expect(failure.isRetryable)
    }

    @Test("Repeating the same changeset doesn't keep a session open")
    mutating func repeatingIsNoProgress() {
        _ = open(last: 2)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        _ = heartbeats(ServerSession.maximumSilentHeartbeats - 1)
        _ = on(.message(.upload([F.changeset(1)])))
        _ = on(.uploaded([.duplicate]))
        #expect(on(.heartbeat) == ["send failure unavailable", "close"])
    }

    @Test("A device that applies nothing is disconnected after a while, even if its connection is alive")
    mutating func applyingEnds() {
        goLive()
        for tick in 4..<(4 + Int64(ServerSession.maximumUnappliedBatches)) {
            _ = tell(F.live(tick))
        }
        _ = heartbeats(ServerSession.maximumUnappliedHeartbeats - 1)
        #expect(on(.heartbeat) == ["unfollow 1", "send failure unavailable", "close"])
    }

    // MARK: A read that is given up

    @Test("A read that was given up starts again from what the device has")
    mutating func givingARead() {
        goLive()
        _ = on(.message(.subscribe(F.groupOne)))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
        #expect(on(.readFinished(F.end(5, subscriptions: 2), F.tick(5))).first == "send end 5 frames 0")
        #expect(on(.readGivenUp).isEmpty)
    }

    @Test("A read that starts again uses the subscriptions and roles of that moment")
    mutating func givingAReadUpWithNews() {
        _ = open()
        _ = on(.message(.subscribe(F.groupOne)))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
        _ = on(.authorityChanged(F.authority))
        #expect(on(.readGivenUp) == ["read from 3 subscriptions 2 with other queries"])
    }

    // MARK: Positions

    @Test("A position is valid, dropped or foreign according to its tick")
    func positions() {
        let latest = F.tick(9)
        #expect(ServerSession.PositionCheck(.none, known: .origin, latest: latest) == ServerSession.PositionCheck.none)
        #expect(ServerSession.PositionCheck(F.position(3), known: F.tick(3), latest: latest) == .valid(F.tick(3)))
        #expect(ServerSession.PositionCheck(F.position(3), known: nil, latest: latest) == .expired)
        #expect(ServerSession.PositionCheck(F.position(10), known: nil, latest: latest) == .foreign)
        var other = F.position(3)
        other.token += 1
        #expect(ServerSession.PositionCheck(other, known: F.tick(3), latest: latest) == .foreign)
    }
}
