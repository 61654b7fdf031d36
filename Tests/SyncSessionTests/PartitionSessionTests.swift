import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Transcripts of sessions that have opened a partition.
@Suite struct PartitionSessionTests {
    private var session = ServerSession(schema: F.schema)

    private mutating func on(_ event: ServerSession.Event) -> [ServerSession.Action] { session.handle(event) }

    /// An authority in the partition of group 1.
    private static func authority(_ condition: TomboloModel.Predicate? = nil, fingerprint: UInt64 = 5)
        -> SessionAuthority
    {
        let partition = SessionPartition(value: .int(1), columns: [0: 1])
        let readable = condition ?? .compare(PropertyPath("group"), .equal, .int(1))
        return SessionAuthority(
            user: "user", rulesFingerprint: fingerprint, readable: { _ in readable }, permit: { _ in nil },
            partition: partition)
    }

    private static func hello(at tick: Int64, wanted: SubscriptionSet = .empty) -> Hello {
        var hello = F.hello(position: F.position(tick, subscriptions: 0), active: .empty, wanted: wanted)
        hello.partition = .int(1)
        return hello
    }

    private mutating func open(_ hello: Hello, formerly: [Int: TomboloModel.Predicate]? = nil) -> ReadRequest? {
        _ = on(.message(.hello(hello)))
        _ = on(.authenticated(Self.authority()))
        let check: ServerSession.PositionCheck =
            hello.position.tick == 0 ? .none : .valid(F.tick(hello.position.tick))
        let actions = on(
            .opened(ClientOpening(last: 0, serverTime: Stamp(microseconds: 1)), check, formerly: formerly))
        guard case .read(let request)? = actions.last else { return nil }
        return request
    }

    @Test("A partition session reads the part of the partition that its user may read, without subscriptions")
    mutating func reading() {
        let request = open(Self.hello(at: 0))
        #expect(request?.new.predicates == [0: .compare(PropertyPath("group"), .equal, .int(1))])
        #expect(request?.from == nil && request?.subscriptionVersion == 0)
    }

    @Test("A returning device gets the difference, even if its rules have changed")
    mutating func difference() {
        #expect(open(Self.hello(at: 3)) == nil && session.followingNumber != nil, "Only ticks are missing.")
        session = ServerSession(schema: F.schema)
        var hello = Self.hello(at: 3)
        hello.position.rulesFingerprint = 4
        let before = TomboloModel.Predicate.compare(PropertyPath("group"), .equal, .int(2))
        let changed = open(hello, formerly: [0: before])
        #expect(changed?.from?.number == 3 && changed?.old.predicates == [0: before])
        #expect(changed?.new.predicates == [0: .compare(PropertyPath("group"), .equal, .int(1))])
    }

    @Test("New rules reach an open partition session as a difference")
    mutating func newRules() {
        _ = open(Self.hello(at: 0))
        _ = on(.readFinished(F.end(3, subscriptions: 0, replacesAll: true), F.tick(3)))
        _ = session.catchUp()
        let actions = on(.authorityChanged(Self.authority(.constant(false), fingerprint: 6)))
        guard case .read(let request)? = actions.last else { return #expect(Bool(false)) }
        #expect(request.from?.number == 3 && request.new == .nothing && request.old != .nothing)
    }

    @Test("Subscriptions are refused, both in the hello and later")
    mutating func subscriptions() {
        _ = on(.message(.hello(Self.hello(at: 0, wanted: F.everything))))
        #expect(on(.authenticated(Self.authority())).map(\.text) == ["send failure badSubscription", "close"])
        session = ServerSession(schema: F.schema)
        _ = open(Self.hello(at: 0))
        #expect(on(.message(.subscribe(F.groupOne))).map(\.text) == ["send failure badSubscription", "close"])
    }

    @Test("A partition that the user may not read can't be opened; a device with objects from it first loses them")
    mutating func nothingReadable() {
        _ = on(.message(.hello(Self.hello(at: 0))))
        #expect(
            on(.authenticated(Self.authority(.constant(false)))).map(\.text) == ["send failure notPermitted", "close"])
        session = ServerSession(schema: F.schema)
        _ = on(.message(.hello(Self.hello(at: 3))))
        #expect(
            on(.authenticated(Self.authority(.constant(false)))).map(\.text) == ["open 7 user acknowledged 0 at 3"])
    }

    @Test("New objects get the partition if the app left it empty, and nothing else is changed")
    mutating func completing() {
        _ = open(Self.hello(at: 0))
        _ = on(.readFinished(F.end(3, subscriptions: 0, replacesAll: true), F.tick(3)))
        func create(_ key: Int64, _ fields: [FieldWrite]) -> Instruction {
            .create(ObjectReference(classIndex: 0, key: .int(key)), fields)
        }
        let set = Instruction.set(
            ObjectReference(classIndex: 0, key: .int(9)), [FieldWrite(column: 1, value: .int(0))])
        var changeset = F.changeset(1)
        changeset.instructions = [
            create(1, []), create(2, [FieldWrite(column: 1, value: .int(0), isDefault: true)]),
            create(3, [FieldWrite(column: 1, value: .int(1))]), create(4, [FieldWrite(column: 1, value: .int(2))]), set,
        ]
        guard case .upload(let uploaded, _)? = on(.message(.upload([changeset]))).first else {
            return #expect(Bool(false))
        }
        let given = FieldWrite(column: 1, value: .int(1))
        #expect(
            uploaded.first?.instructions == [
                create(1, [given]), create(2, [given]), create(3, [given]),
                create(4, [FieldWrite(column: 1, value: .int(2))]), set,
            ])
    }

    @Test("A device claims protocol version 3 only to open a partition", arguments: [nil, Value.null, .int(1)])
    func clientVersion(partition: Value?) {
        var session = ClientSession(schema: F.schema, partition: partition)
        _ = session.handle(.start)
        let actions = session.handle(.connected(F.state(), accessToken: "token"))
        guard case .send(.hello(let hello))? = actions.first else { return #expect(Bool(false)) }
        #expect(hello.partition == partition)
        #expect(hello.protocolVersion == (partition == nil ? 2 : 3))
    }
}
