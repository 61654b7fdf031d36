import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// Values that the transcripts have in common.
enum SessionFixture {
    static let schema = try! Schema([
        ClassSchema(
            name: "Item",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "group", type: .int(bits: 64)),
            ])
    ])
    static let client = ClientID(rawValue: 7)
    static let everything = SubscriptionSet(
        version: 1, subscriptions: [Subscription(name: "all", className: "Item", predicate: .constant(true))])
    static let groupOne = SubscriptionSet(
        version: 2,
        subscriptions: [
            Subscription(name: "one", className: "Item", predicate: .compare(PropertyPath("group"), .equal, .int(1)))
        ])
    static let authority = SessionAuthority(
        user: "user", rulesFingerprint: 5, readable: { _ in .constant(true) }, permit: { _ in nil })
    static let schemaFingerprint = HelloClass.fingerprint(of: HelloClass.describe(schema))

    static func tick(_ number: Int64) -> Tick {
        Tick(
            number: number, token: 1_000 + number,
            snapshot: Snapshot(xmin: UInt64(number), xmax: UInt64(number), running: []),
            time: Stamp(microseconds: number * 1_000))
    }

    static func position(_ number: Int64, subscriptions: Int64 = 1) -> Position {
        Position(
            tick: number, token: number == 0 ? 0 : 1_000 + number, subscriptionVersion: subscriptions,
            rulesFingerprint: 5, schemaFingerprint: schemaFingerprint)
    }

    static func changeset(_ number: Int64, base: Int64 = 1) -> Changeset {
        Changeset(
            number: number, base: base, stamp: Stamp(microseconds: number),
            instructions: [.erase(ObjectReference(classIndex: 0, key: .int(number)))])
    }

    static func end(
        _ number: Int64, acknowledged: Int64 = 0, refusals: [RefusedWrite] = [], frames: Int = 0,
        subscriptions: Int64 = 1, replacesAll: Bool = false
    ) -> BatchEnd {
        BatchEnd(
            position: position(number, subscriptions: subscriptions), serverTime: tick(number).time,
            acknowledged: acknowledged, refusals: refusals, replacesAll: replacesAll, frameCount: frames)
    }

    /// A frame with one row.
    static func frame(_ sequence: Int) -> BatchFrame {
        var block = RowBlock(schema: schema, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .int(1)]))
        return BatchFrame(sequence: sequence, blocks: [block])
    }

    static func refused(_ number: Int64) -> RefusedWrite {
        RefusedWrite(number: number, refusal: Refusal(.notPermitted, "no"))
    }

    /// - Parameter position: by default that of a device whose subscriptions changed while it was offline, so its first batch
    ///   has to be read.
    static func hello(
        position: Position = SessionFixture.position(3, subscriptions: 0), active: SubscriptionSet = everything,
        wanted: SubscriptionSet = everything, acknowledged: Int64 = 0
    ) -> Hello {
        Hello(
            accessToken: "token", client: client, position: position, activeSubscriptions: active,
            wantedSubscriptions: wanted, acknowledged: acknowledged, classes: HelloClass.describe(schema))
    }

    /// A tick in which an object of group `group` appeared, and possibly the client's progress.
    static func live(
        _ number: Int64, previous: Int64? = nil, key: Int64? = 1, group: Int64 = 1,
        progress: ClientProgress? = nil
    ) -> LiveTick {
        let changes = key.map { key in
            [
                RootChange(
                    reference: ObjectReference(classIndex: 0, key: .int(key)), old: nil,
                    new: Row([.int(key), .int(group)]))
            ]
        }
        return LiveTick(
            tick: tick(number), previous: previous ?? number - 1,
            difference: TickDifference(
                from: previous ?? number - 1, to: number, changes: changes ?? [],
                clients: progress.map { [client: $0.last] } ?? [:]),
            progress: progress.map { [client: $0] } ?? [:])
    }

    static func state(
        position: Position = SessionFixture.position(3), acknowledged: Int64 = 0, last: Int64 = 0,
        wanted: SubscriptionSet = everything
    ) -> DeviceState {
        DeviceState(
            client: client, position: position, active: everything, wanted: wanted, acknowledged: acknowledged,
            lastChangeset: last)
    }

    static func applied(
        _ number: Int64, acknowledged: Int64 = 0, refusals: [RefusedWrite] = [], isEverything: Bool = false,
        subscriptions: Int64 = 1
    ) -> AppliedBatch {
        AppliedBatch(
            position: position(number, subscriptions: subscriptions), acknowledged: acknowledged, refusals: refusals,
            objectCount: 0, isEverything: isEverything)
    }
}

extension ClientSession.Event {
    /// The event of a single message.
    static func message(_ message: ServerMessage) -> Self { .messages([message]) }
}

extension ServerSession {
    /// Answers a session that follows the feed, or asked to, with the ticks since the one that it is at.
    mutating func catchUp(_ ticks: LiveTick...) -> [Action] {
        guard let number = followingNumber else { return [] }
        let batches = LiveFeed<Int>.match(
            ticks, with: liveView, client: SessionFixture.client, schema: SessionFixture.schema)
        return handle(.following(number, batches, newest: ticks.last?.tick ?? .origin))
    }

    /// Tells a session that follows the feed about a tick, as the feed would.
    mutating func tell(_ live: LiveTick, in schema: Schema = SessionFixture.schema) -> [Action] {
        guard let number = followingNumber else { return [] }
        let batches = LiveFeed<Int>.match(
            [live], with: liveView, client: SessionFixture.client, schema: schema)
        let actions = batches.flatMap { handle(.live(number, $0)) }
        reach(live.tick)
        return actions
    }
}
