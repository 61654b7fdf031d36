import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// A store, a fake server, and the hand-written scenarios.
final class DeviceStoreScenario<Harness: DeviceStoreHarness> {
    typealias S = ConformanceSchema

    let schema: Schema
    let harness: Harness
    var server: ConformanceServer
    var delivered: [ObjectReference: Row] = [:]

    var store: Harness.Store { harness.store }

    init(schema: Schema) throws {
        self.schema = schema
        harness = try Harness(schema: schema, client: ClientID(rawValue: 77))
        server = ConformanceServer(schema: schema)
    }

    // MARK: Steps

    @discardableResult
    func deliver(
        acknowledged: Int64 = 0, refusals: [RefusedWrite] = [], replacesAll: Bool = false,
        serverTime: Int64? = nil
    ) throws -> AppliedBatch {
        let frames = server.frames(from: delivered, everything: replacesAll)
        let isEmpty = frames.allSatisfy(\.isEmpty)
        let end = server.end(
            acknowledged: acknowledged, refusals: refusals, replacesAll: replacesAll, frameCount: isEmpty ? 0 : 1,
            serverTime: serverTime)
        delivered = server.rows
        return try store.apply(end, frames: isEmpty ? [] : frames, wallMicroseconds: 0)
    }

    func write(_ instructions: Instruction...) throws {
        try harness.write(instructions, wallMicroseconds: 10)
    }

    func set(_ classIndex: Int, _ key: Value, _ column: Int, _ value: Value) -> Instruction {
        .set(S.reference(classIndex, key), [FieldWrite(column: column, value: value)])
    }

    func queue() throws -> [Changeset] {
        try store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
    }

    func require(_ classIndex: Int, _ expected: [Row], _ what: String) throws {
        let found = try harness.rows(ofClass: classIndex)
        try requireEqual(
            found.sorted { Value.sortsBefore($0[0], $1[0]) }, expected.sorted { Value.sortsBefore($0[0], $1[0]) },
            "\(what), rows of \(schema[classIndex].name)")
    }

    /// Delivers two sessions, a room, and two speakers, both in the first session's list.
    func fill() throws {
        server.put(S.room, S.roomRow(1, "Hall", plan: [0, 1, 255]))
        server.put(S.session, S.sessionRow("a", "Opening", room: 1, seats: 10))
        server.put(S.session, S.sessionRow("b", "Closing"))
        server.put(S.speaker, S.speakerRow(1, "Ada"))
        server.put(S.speaker, S.speakerRow(2, "Grace"))
        server.put(S.element, S.elementRow(1, of: "a", "a0", 1))
        server.put(S.element, S.elementRow(2, of: "a", "a1", 2))
        try deliver()
    }

    func requireServerState(_ what: String) throws {
        for classIndex in schema.classes.indices {
            try require(classIndex, server.rows.filter { $0.key.classIndex == classIndex }.map(\.value), what)
        }
    }
}

extension DeviceStoreScenario {
    func run(_ check: DeviceStoreCheck) throws {
        switch check {
        case .newFileStandsBeforeTheFirstBatch: try newFile()
        case .batchBringsRowsPositionAndSubscriptions: try firstBatch()
        case .changedColumnsOnly: try changedColumns()
        case .removalTakesTheListAlong: try removal()
        case .framesAreStagedOutOfSight: try staging()
        case .missingFramesChangeNothing: try missingFrames()
        case .restagingDropsAnEarlierBatch: try restaging()
        case .localWritesAreQueued: try localWrites()
        case .pendingRespectsLimits: try limits()
        case .acknowledgementUncoversTheServersValue: try acknowledgement()
        case .refusalUncoversTheServersValue: try refusal()
        case .refusalsAreKeptUntilTold: try untoldRefusals()
        case .pendingEditsStayOnTop: try editsStayOnTop()
        case .pendingEditSurvivesMoveOut: try moveOut()
        case .pendingEraseIsUndone: try refusedErase()
        case .createOnExistingKeepsServerDefaults: try createOnExisting()
        case .additionsAddToTheServersValue: try additions()
        case .replacingEverything: try replacement()
        case .resetStartsOver: try reset()
        case .subscriptionsAreVersioned: try subscriptions()
        case .subscriptionsAreNotOverwritten: try overwrittenSubscriptions()
        case .refusedSubscriptionsAreNotWanted: try refusedSubscriptions()
        case .discardedEditsUncoverTheServersValues: try discard()
        case .notedResetKeepsItsNumbers: try notedReset()
        case .everythingSurvivesARestart: try restart()
        case .emptyBatchMovesThePosition: try emptyBatch()
        case .randomHistories: break
        }
    }

    private func newFile() throws {
        try requireEqual(
            try store.state(),
            DeviceState(
                client: ClientID(rawValue: 77), position: .none, active: .empty, wanted: .empty, acknowledged: 0,
                lastChangeset: 0), "state")
        try requireEqual(try queue(), [], "queue")
        try requireServerState("new file")
    }

    private func firstBatch() throws {
        let wanted = SubscriptionSet(
            version: 1,
            subscriptions: [Subscription(name: "all", className: "Session", predicate: .constant(true))])
        try store.setWantedSubscriptions(wanted)
        try requireEqual(try store.state().active, .empty, "active before the batch")
        server.subscriptionVersion = 1
        try fill()
        try requireServerState("after the batch")
        let state = try store.state()
        try requireEqual(state.position.tick, 1, "tick")
        try requireEqual(state.position.token, 31, "token")
        try requireEqual(state.position.rulesFingerprint, .max - 5, "rules")
        try requireEqual(state.position.schemaFingerprint, schema.fingerprint, "schema")
        try requireEqual(state.active, wanted, "active")
        try requireEqual(state.wanted, wanted, "wanted")
    }

    private func changedColumns() throws {
        try fill()
        server.put(S.session, S.sessionRow("a", "Welcome", room: nil, seats: 10))
        let applied = try deliver()
        try requireEqual(applied.objectCount, 1, "object count")
        try requireServerState("after the change")
        // A change to an object that the device doesn't have doesn't create the object.
        var block = RowBlock(schema: schema, classIndex: S.session, columns: [0, 1], isWhole: false)
        block.append(S.sessionRow("elsewhere", "x"))
        _ = try store.apply(
            server.end(frameCount: 1), frames: [BatchFrame(sequence: 0, blocks: [block])], wallMicroseconds: 0)
        try requireServerState("after a change to an unknown object")
    }

    private func removal() throws {
        try fill()
        server.remove(S.session, .string("a"))
        let end = server.end(frameCount: 1)
        _ = try store.apply(
            end,
            frames: [
                BatchFrame(
                    sequence: 0,
                    removals: [ObjectRemoval(classIndex: S.session, keys: [.string("a"), .string("none")])])
            ],
            wallMicroseconds: 0)
        try requireServerState("after the removal")
    }

    private func staging() throws {
        server.put(S.session, S.sessionRow("a", "Opening"))
        server.put(S.session, S.sessionRow("b", "Closing"))
        server.put(S.speaker, S.speakerRow(1, "Ada"))
        let frames = server.frames(from: [:], frameCount: 3)
        try store.stage(frames[0])
        try store.stage(frames[1])
        try require(S.session, [], "staged")
        _ = try store.apply(server.end(frameCount: 3), frames: [frames[2]], wallMicroseconds: 0)
        try requireServerState("applied")
    }

    private func missingFrames() throws {
        try fill()
        let before = try store.state()
        var changed = server
        changed.put(S.session, S.sessionRow("a", "Lost"))
        let frames = changed.frames(from: delivered, everything: true, frameCount: 3)
        try store.stage(frames[0])
        do {
            _ = try store.apply(changed.end(frameCount: 3), frames: [frames[2]], wallMicroseconds: 0)
            throw ConformanceFailure("a batch with a missing frame was applied")
        } catch is StagedFramesMissing {}
        try requireEqual(try store.state(), before, "state")
        try requireServerState("after the failed batch")
    }

    private func restaging() throws {
        server.put(S.session, S.sessionRow("a", "Opening"))
        server.put(S.session, S.sessionRow("b", "Closing"))
        let stale = server.frames(from: [:], frameCount: 2)
        try store.stage(stale[0])
        try store.stage(BatchFrame(sequence: 1))
        server.rows = [:]
        server.put(S.session, S.sessionRow("c", "New"))
        server.put(S.speaker, S.speakerRow(1, "Ada"))
        let frames = server.frames(from: [:], frameCount: 2)
        try store.stage(frames[0])
        _ = try store.apply(server.end(frameCount: 2), frames: [frames[1]], wallMicroseconds: 0)
        try requireServerState("after the second attempt")
        // A batch of one frame is unaffected by what an interrupted batch left.
        try store.stage(stale[0])
        delivered = server.rows
        server.put(S.session, S.sessionRow("d", "Newer"))
        try deliver()
        try requireServerState("after a batch of one frame")
    }

    private func localWrites() throws {
        try fill()
        try deliver(serverTime: 5_000)
        try write(set(S.session, .string("a"), 1, .string("One")))
        try write(set(S.session, .string("a"), 1, .string("Two")))
        let queue = try queue()
        try requireEqual(queue.map(\.number), [1, 2], "numbers")
        try requireEqual(queue.map(\.base), [2, 2], "base")
        try requireTrue(
            queue[0].stamp.microseconds > 5_000 && queue[1].stamp > queue[0].stamp, "stamps \(queue.map(\.stamp))")
        try requireEqual(try store.state().lastChangeset, 2, "last number")
        try requireEqual(
            queue[1].instructions, [set(S.session, .string("a"), 1, .string("Two"))], "instructions")
        try require(
            S.session, [S.sessionRow("a", "Two", room: 1, seats: 10), S.sessionRow("b", "Closing")], "local")
    }

    private func limits() throws {
        try fill()
        for number in 1...5 { try write(set(S.session, .string("a"), 1, .string("\(number)"))) }
        let all = try queue()
        try requireEqual(all.map(\.number), [1, 2, 3, 4, 5], "all")
        func load(_ after: Int64, _ count: Int, _ bytes: Int) throws -> [Int64] {
            try store.pendingChangesets(after: after, maximumCount: count, maximumByteCount: bytes).map(\.number)
        }
        try requireEqual(try load(2, 2, .max), [3, 4], "two after the second")
        try requireEqual(try load(0, 10, 1), [1], "at least one, however large")
        try requireEqual(try load(5, 10, .max), [], "none after the last")
    }

    private func acknowledgement() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        try write(set(S.session, .string("b"), 1, .string("Mine too")))
        // The first edit lost to another device's; the second hasn't reached the server yet.
        server.put(S.session, S.sessionRow("a", "Theirs", room: 1, seats: 10))
        try deliver(acknowledged: 1)
        try require(
            S.session, [S.sessionRow("a", "Theirs", room: 1, seats: 10), S.sessionRow("b", "Mine too")], "lost edit")
        // The second one won.
        server.put(S.session, S.sessionRow("b", "Mine too"))
        try deliver(acknowledged: 2)
        try requireServerState("won edit")
        try requireEqual(try queue(), [], "queue")
        try requireEqual(try store.state().acknowledged, 2, "acknowledged")
    }

    private func refusal() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Forbidden")), set(S.room, roomKey, 1, .string("Cellar")))
        try write(set(S.session, .string("a"), 3, .int(11)))
        let refused = RefusedWrite(number: 1, refusal: Refusal(.notPermitted, "Not yours."))
        let applied = try deliver(acknowledged: 1, refusals: [refused])
        try requireEqual(applied.refusals, [refused], "refusals")
        try require(
            S.session, [S.sessionRow("a", "Opening", room: 1, seats: 11), S.sessionRow("b", "Closing")], "refused")
        try require(S.room, [S.roomRow(1, "Hall", plan: [0, 1, 255])], "refused")
    }

    private func untoldRefusals() throws {
        try fill()
        func refused(_ number: Int64, _ message: String) -> RefusedWrite {
            RefusedWrite(
                number: number,
                refusal: Refusal(.notPermitted, message, className: "Session", key: .string("a"), role: "reader"))
        }
        let first = [refused(1, "Not yours."), refused(1, "Not this.")]
        for number: Int64 in 1...3 { try write(set(S.session, .string("a"), 3, .int(number))) }
        try deliver(acknowledged: 1, refusals: first)
        try deliver(acknowledged: 3, refusals: [refused(3, "Nor that.")])
        try harness.restart()
        let untold = try store.untoldRefusals(after: 0)
        try requireEqual(untold.map(\.write), first + [refused(3, "Nor that.")], "untold")
        try requireEqual(try store.untoldRefusals(after: untold[1].id), [untold[2]], "untold after the second")
        try store.forgetRefusals(through: untold[1].id)
        try harness.restart()
        try requireEqual(try store.untoldRefusals(after: 0), [untold[2]], "untold after two were told")
        try store.forgetRefusals(through: untold[2].id)
        let many = (0..<UntoldRefusal.maximumCount + 5).map { refused(4, "\($0)") }
        try write(set(S.session, .string("a"), 3, .int(4)))
        try deliver(acknowledged: 4, refusals: many)
        let kept = try store.untoldRefusals(after: 0)
        try requireEqual(kept.map(\.write), Array(many.suffix(UntoldRefusal.maximumCount)), "the newest")
        try requireTrue(zip(kept, kept.dropFirst()).allSatisfy { $0.id < $1.id }, "ids increase")
    }

    private var roomKey: Value { .objectId(ObjectId(high: 7, low: 1)) }

    private func editsStayOnTop() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        server.put(S.session, S.sessionRow("a", "Theirs", room: nil, seats: 99))
        try deliver()
        try require(
            S.session, [S.sessionRow("a", "Mine", room: nil, seats: 99), S.sessionRow("b", "Closing")],
            "my field and their field")
        try deliver(acknowledged: 1)
        try requireServerState("acknowledged")
    }

    private func moveOut() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        server.remove(S.session, .string("a"))
        try deliver()
        try requireServerState("moved out")
        try requireEqual(try queue().count, 1, "queue")
        server.put(S.session, S.sessionRow("a", "Theirs", room: 1, seats: 3))
        try deliver()
        try require(
            S.session, [S.sessionRow("a", "Mine", room: 1, seats: 3), S.sessionRow("b", "Closing")], "moved in again")
    }

    private func refusedErase() throws {
        try fill()
        try write(.erase(S.reference(S.session, .string("a"))))
        try require(S.session, [S.sessionRow("b", "Closing")], "erased")
        try require(S.element, [], "erased")
        server.put(S.session, S.sessionRow("a", "Changed", room: 1, seats: 10))
        server.put(S.element, S.elementRow(2, of: "a", "Zz", 2))
        try deliver()
        try require(S.session, [S.sessionRow("b", "Closing")], "still erased")
        try require(S.element, [], "still erased")
        try deliver(
            acknowledged: 1, refusals: [RefusedWrite(number: 1, refusal: Refusal(.notPermitted, "Not yours."))])
        try requireServerState("refused")
    }

    private func createOnExisting() throws {
        let key = Value.string("c")
        try write(
            .create(
                S.reference(S.session, key),
                [
                    FieldWrite(column: 1, value: .string("Mine")),
                    FieldWrite(column: 2, value: .null, isDefault: true),
                    FieldWrite(column: 3, value: .int(0), isDefault: true),
                    FieldWrite(column: 4, value: .date(1)), FieldWrite(column: 5, value: .null, isDefault: true),
                ]))
        let mine = Row([key, .string("Mine"), .null, .int(0), .date(1), .null, .null])
        try require(S.session, [mine], "created")
        server.put(S.session, S.sessionRow("c", "Theirs", room: 1, seats: 8))
        try deliver()
        var merged = S.sessionRow("c", "Mine", room: 1, seats: 8)
        merged[4] = .date(1)
        try require(S.session, [merged], "created on both sides")
        try deliver(acknowledged: 1)
        try requireServerState("acknowledged")
    }

    private func additions() throws {
        try fill()
        let reference = S.reference(S.session, .string("a"))
        try write(.add(reference, column: 3, amount: 2))
        try write(.add(reference, column: 3, amount: 3))
        try require(
            S.session, [S.sessionRow("a", "Opening", room: 1, seats: 15), S.sessionRow("b", "Closing")], "local")
        server.put(S.session, S.sessionRow("a", "Opening", room: 1, seats: 102))
        try deliver(acknowledged: 1)
        try require(
            S.session, [S.sessionRow("a", "Opening", room: 1, seats: 105), S.sessionRow("b", "Closing")],
            "half acknowledged")
        try write(.add(reference, column: 3, amount: .max))
        try require(
            S.session, [S.sessionRow("a", "Opening", room: 1, seats: 105), S.sessionRow("b", "Closing")],
            "a sum beyond 64 bits changes nothing")
    }

    private func replacement() throws {
        try fill()
        try write(set(S.session, .string("b"), 1, .string("Mine")))
        try write(.create(S.reference(S.speaker, .int(9)), [FieldWrite(column: 1, value: .string("New"))]))
        try requireEqual(try queue().map(\.base), [1, 1], "base")
        server.remove(S.session, .string("a"))
        server.remove(S.speaker, .int(1))
        server.put(S.room, S.roomRow(2, "Annex"))
        let applied = try deliver(replacesAll: true)
        try requireEqual(applied.isEverything, true, "replaces everything")
        try requireEqual(try queue().map(\.base), [2, 2], "base on the new tick")
        try require(S.session, [S.sessionRow("b", "Mine")], "replaced")
        try require(S.element, [], "replaced")
        try require(
            S.speaker, [S.speakerRow(2, "Grace"), Row([.int(9), .string("New"), .null])], "replaced")
        try require(S.room, [S.roomRow(1, "Hall", plan: [0, 1, 255]), S.roomRow(2, "Annex")], "replaced")
        try deliver(acknowledged: 2)
        try requireServerState("acknowledged")
        server.rows = [:]
        try deliver(acknowledged: 2, replacesAll: true)
        try requireServerState("everything gone")
    }

    private func reset() throws {
        try fill()
        for title in ["One", "Two", "Three"] { try write(set(S.session, .string("a"), 1, .string(title))) }
        server.put(S.session, S.sessionRow("a", "One", room: 1, seats: 10))
        try deliver(acknowledged: 1)
        try store.stage(BatchFrame(sequence: 0))
        let titles = try queue().map(\.instructions)
        try store.reset(client: ClientID(rawValue: 88), discardsPending: false)
        let state = try store.state()
        try requireEqual(state.client, ClientID(rawValue: 88), "client")
        try requireEqual(state.position, .none, "position")
        try requireEqual(state.active, .empty, "active")
        try requireEqual(state.acknowledged, 0, "acknowledged")
        try requireEqual(state.lastChangeset, 2, "last number")
        try requireEqual(try queue().map(\.number), [1, 2], "numbers")
        try requireEqual(try queue().map(\.instructions), titles, "instructions")
        try require(
            S.session, [S.sessionRow("a", "Three", room: 1, seats: 10), S.sessionRow("b", "Closing")], "rows stay")
        server.put(S.session, S.sessionRow("a", "Theirs", room: 1, seats: 12))
        try deliver(replacesAll: true)
        try requireEqual(try queue().map(\.base), [3, 3], "base")
        try require(
            S.session, [S.sessionRow("a", "Three", room: 1, seats: 12), S.sessionRow("b", "Closing")], "recovered")
        try write(set(S.session, .string("b"), 1, .string("Last")))
        try requireEqual(try queue().map(\.number), [1, 2, 3], "numbers continue")
    }

    private func subscriptions() throws {
        func version(_ number: Int64) -> SubscriptionSet {
            SubscriptionSet(
                version: number,
                subscriptions: [
                    Subscription(
                        name: "v\(number)", className: "Session",
                        predicate: .compare(PropertyPath("seats"), .greater, .int(number)))
                ])
        }
        try store.setWantedSubscriptions(version(1))
        try store.setWantedSubscriptions(version(2))
        try store.setWantedSubscriptions(version(3))
        server.subscriptionVersion = 2
        try fill()
        try requireEqual(try store.state().active, version(2), "active")
        try requireEqual(try store.state().wanted, version(3), "wanted")
        try deliver()
        try requireEqual(try store.state().active, version(2), "active after another batch")
        server.subscriptionVersion = 3
        try deliver()
        try requireEqual(try store.state().active, version(3), "active")
        try requireEqual(try store.state().wanted, version(3), "wanted")
    }

    private func overwrittenSubscriptions() throws {
        func set(_ version: Int64, _ className: String) -> SubscriptionSet {
            SubscriptionSet(
                version: version,
                subscriptions: [Subscription(name: nil, className: className, predicate: .constant(true))])
        }
        func requireRefusal(of set: SubscriptionSet) throws {
            do { try store.setWantedSubscriptions(set) } catch { return }
            throw ConformanceFailure("version \(set.version) was stored over another set")
        }
        try store.setWantedSubscriptions(set(1, "Room"))
        try store.setWantedSubscriptions(set(2, "Session"))
        try store.setWantedSubscriptions(set(2, "Session"))
        try requireRefusal(of: set(2, "Room"))
        try requireRefusal(of: set(1, "Session"))
        server.subscriptionVersion = 2
        try fill()
        try requireRefusal(of: set(1, "Session"))
        try requireEqual(try store.state().wanted, set(2, "Session"), "wanted")
        try requireEqual(try store.state().active, set(2, "Session"), "active")
    }

    private func refusedSubscriptions() throws {
        func set(_ version: Int64, _ className: String) -> SubscriptionSet {
            SubscriptionSet(
                version: version,
                subscriptions: [Subscription(name: nil, className: className, predicate: .constant(true))])
        }
        try store.setWantedSubscriptions(set(1, "Room"))
        server.subscriptionVersion = 1
        try fill()
        try store.setWantedSubscriptions(set(2, "Session"))
        try store.refuseSubscriptions(version: 2, reason: "no")
        try requireEqual(try store.state().wanted, set(1, "Room"), "wanted after the refusal")
        try requireEqual(try store.state().active, set(1, "Room"), "active after the refusal")
        try harness.restart()
        try requireEqual(try store.state().wanted, set(1, "Room"), "wanted after a restart")
        try store.setWantedSubscriptions(set(3, "Session"))
        try requireEqual(try store.state().wanted, set(3, "Session"), "a newer set")
    }

    /// The batch of a reset drops the queue, and nothing else does.
    private func discard() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        try store.reset(client: ClientID(rawValue: 88), discardsPending: true)
        try write(set(S.session, .string("b"), 1, .string("Mine too")))
        try requireEqual(try store.state().reset, .discarding, "reset")
        try harness.restart()
        try requireEqual(try store.state().reset, .discarding, "reset after a restart")
        let mine = [S.sessionRow("a", "Mine", room: 1, seats: 10), S.sessionRow("b", "Mine too")]
        try require(S.session, mine, "rows before the batch")
        try requireEqual(try queue().map(\.number), [1, 2], "queue before the batch")
        server.put(S.session, S.sessionRow("a", "Theirs", room: 1, seats: 3))
        try deliver(replacesAll: true)
        try requireEqual(try queue(), [], "queue")
        try requireServerState("discarded")
        try requireEqual(try store.state().reset, .applied, "reset after the batch")
        try harness.restart()
        try requireEqual(try store.state().reset, .applied, "applied, after a restart")
        try store.finishReset()
        try requireEqual(try store.state().reset, nil, "finished")
        try write(set(S.session, .string("a"), 1, .string("Later")))
        try requireEqual(try queue().map(\.number), [1], "numbers start over")
    }

    /// A reset that keeps the client id keeps numbers and position until its batch.
    private func notedReset() throws {
        try fill()
        for title in ["One", "Two"] { try write(set(S.session, .string("a"), 1, .string(title))) }
        let before = try store.state()
        try store.noteReset()
        var noted = try store.state()
        try requireEqual(noted.reset, .recovering, "reset")
        noted.reset = nil
        try requireEqual(noted, before, "everything else")
        // A batch that doesn't replace everything doesn't complete the reset.
        try deliver()
        try requireEqual(try store.state().reset, .recovering, "reset after another batch")
        try store.finishReset()
        try requireEqual(try store.state().reset, .recovering, "an unfinished reset stays")
        server.put(S.session, S.sessionRow("a", "Theirs", room: 1, seats: 3))
        try deliver(replacesAll: true)
        try requireEqual(try queue().map(\.number), [1, 2], "queue")
        try require(
            S.session, [S.sessionRow("a", "Two", room: 1, seats: 3), S.sessionRow("b", "Closing")], "recovered")
        try requireEqual(try store.state().reset, .applied, "reset after the batch")
        try store.finishReset()
        try requireEqual(try store.state().reset, nil, "finished")
    }

    private func restart() throws {
        try store.setWantedSubscriptions(
            SubscriptionSet(
                version: 4,
                subscriptions: [Subscription(name: nil, className: "Room", predicate: .constant(true))]))
        server.subscriptionVersion = 4
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        let frames = server.frames(from: [:], everything: true, frameCount: 2)
        try store.stage(frames[0])
        let state = try store.state()
        let pending = try queue()
        try harness.restart()
        try requireEqual(try store.state(), state, "state")
        try requireEqual(try queue(), pending, "queue")
        let rows = [S.sessionRow("a", "Mine", room: 1, seats: 10), S.sessionRow("b", "Closing")]
        try require(S.session, rows, "restarted")
        _ = try store.apply(server.end(frameCount: 2), frames: [frames[1]], wallMicroseconds: 0)
        try require(S.session, rows, "staged frames")
        try write(set(S.session, .string("a"), 1, .string("Again")))
        try requireEqual(try queue().map(\.number), [1, 2], "numbers")
    }

    private func emptyBatch() throws {
        try fill()
        try write(set(S.session, .string("a"), 1, .string("Mine")))
        try deliver(serverTime: 1_000_000)
        try requireEqual(try store.state().position.tick, 2, "tick")
        try require(
            S.session, [S.sessionRow("a", "Mine", room: 1, seats: 10), S.sessionRow("b", "Closing")], "empty batch")
        try write(set(S.session, .string("a"), 1, .string("Later")))
        let last = try queue().last
        try requireEqual(last?.base, 2, "base")
        try requireTrue(
            (last?.stamp.microseconds ?? 0) > 1_000_000, "the clock adopts the server's time")
    }
}
