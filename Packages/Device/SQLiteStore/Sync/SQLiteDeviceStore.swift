public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol
public import TomboloSyncSession

/// A device file as the sync engine sees it. It has its own connection. Realms of the same file, in this and other
/// processes, write through their own connections.
///
/// Everything the engine writes is on the server too, so its writes don't wait for the disk (`synchronous = NORMAL`).
/// After an operating system crash the file may be at an earlier batch, but never between two batches. Local writes and
/// ``reset(client:discardsPending:)`` do wait for the disk. The write-ahead log is copied into the file on another
/// thread.
public final class SQLiteDeviceStore: DeviceStore {
    private let file: StoreFile
    private let connection: SQLiteConnection
    private let writer: InstructionWriter
    private let queue: ChangesetQueue
    private let frameWriter: FrameWriter
    private let codec: MessageCodec
    private let table: SubscriptionTable
    private let refusals: RefusalTable
    private let resets: ResetTable
    private let checkpoints: LogCheckpoints
    private let mark: ReplayMark
    /// Whether there may be staged frames. Emptying a table writes one of its pages even if the table is already empty.
    private var mayHaveStaged = true

    /// The app's classes.
    public var schema: Schema { file.schema }
    /// The path of the device file.
    public var path: String { file.path }

    /// The maximum number of subscription sets kept besides the active one, until the server has processed one.
    public static let maximumKeptSubscriptionSets = 64

    /// The maximum size of an encoded subscription set in bytes.
    public static let maximumSubscriptionSetByteCount = MessageCodec.maximumSubscriptionSetByteCount

    /// Opens a synced file, creating it if needed.
    /// - Parameter newClient: the client ID for a newly created file, or nil for a random one.
    /// - Throws: ``SQLiteStoreError``.
    public convenience init(path: String, schema: Schema, newClient: ClientID? = nil) throws {
        var generator = SystemRandomNumberGenerator()
        try self.init(
            StoreFile(
                path: path, schema: schema, options: StoreOptions(isSynced: true, durability: .normal),
                newClient: newClient ?? .random(using: &generator)))
    }

    package init(_ file: StoreFile) throws {
        self.file = file
        connection = file.connection
        writer = InstructionWriter(file)
        queue = ChangesetQueue(file)
        frameWriter = FrameWriter(file)
        codec = MessageCodec(schema: file.schema)
        table = SubscriptionTable(connection: file.connection, codec: codec)
        refusals = RefusalTable(connection: file.connection, codec: codec)
        try table.prepare()
        try refusals.prepare()
        resets = ResetTable(connection: connection)
        mark = ReplayMark(connection: connection)
        checkpoints = LogCheckpoints(path: file.path)
        try resets.prepare()
        try mark.prepare()
        connection.keepLog()
    }

    deinit { checkpoints.close() }

    /// Runs `body` in a write transaction. Afterwards, if the write-ahead log has become long, has it copied.
    private func write<Result>(_ body: () throws -> Result) throws -> Result {
        let result = try file.writeTransaction(body)
        if connection.logPageCount >= LogCheckpoints.maximumPageCount {
            connection.checkpoint()
        } else if connection.logPageCount >= LogCheckpoints.pageCount {
            checkpoints.request()
        }
        return result
    }

    public func state() throws -> DeviceState {
        try connection.run(.begin)
        defer { connection.rollback() }
        let meta = try FileMeta.load(connection)
        return DeviceState(
            client: meta.client, position: meta.position,
            active: try table.set(version: meta.position.subscriptionVersion) ?? .empty,
            wanted: try table.wanted() ?? .empty, acknowledged: meta.acknowledged,
            lastChangeset: meta.lastChangeset, reset: try resets.state())
    }

    public func pendingChangesets(
        after number: Int64, maximumCount: Int, maximumByteCount: Int
    ) throws -> [Changeset] {
        try queue.changesets(after: number, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }

    public func stage(_ frame: BatchFrame) throws {
        try write {
            mayHaveStaged = true
            if frame.sequence == 0 { try connection.run("DELETE FROM tombolo_staged") }
            let statement = try connection.statement(
                "INSERT INTO tombolo_staged VALUES (?, ?) "
                    + "ON CONFLICT (sequence) DO UPDATE SET frame = excluded.frame")
            statement.bind(Int64(frame.sequence), at: 1)
            statement.bind(bytes: codec.encode(frame), at: 2)
            try statement.run()
        }
    }

    public func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch {
        let applied = try write {
            try requireFrames(end, frames)
            var meta = try FileMeta.load(connection)
            let reset = end.replacesAll ? try resets.state() : nil
            if reset == .discarding {
                try queue.remove(upTo: meta.lastChangeset)
                meta.lastChangeset = meta.acknowledged
            }
            let count = try applyRows(end, frames, meta, isReset: reset != nil)
            if reset != nil { try resets.set(.applied) }
            if end.position.subscriptionVersion != meta.position.subscriptionVersion {
                try table.activate(version: end.position.subscriptionVersion)
            }
            meta.position = end.position
            meta.acknowledged = max(meta.acknowledged, end.acknowledged)
            meta.clock.adopt(serverTime: end.serverTime, wallMicroseconds: wallMicroseconds)
            try refusals.append(end.refusals)
            try meta.save(connection)
            return AppliedBatch(
                position: meta.position, acknowledged: meta.acknowledged, refusals: end.refusals, objectCount: count,
                isEverything: end.replacesAll)
        }
        mayHaveStaged = false
        file.observers.notify(from: ObjectIdentifier(self))
        return applied
    }

    /// - Throws: ``SQLiteStoreError/Code/outdated`` if the file has a newer version, or this version with different
    ///   content; ``SQLiteStoreError/Code/invalidInput`` for a set that couldn't be read again or sent.
    public func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws {
        try write { try table.insert(subscriptions) }
        file.observers.notify(from: ObjectIdentifier(self))
    }

    public func refuseSubscriptions(version: Int64, reason: String) throws {
        try write { try table.refuse(version: version, reason: reason) }
    }

    public func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { try refusals.all(after: id) }

    public func forgetRefusals(through id: Int64) throws {
        try write { try refusals.remove(through: id) }
    }

    public func noteReset() throws {
        try write {
            if try resets.state() != .discarding { try resets.set(.recovering) }
        }
    }

    public func finishReset() throws {
        try write {
            if try resets.state() == .applied { try resets.clear() }
        }
    }

    public func reset(client: ClientID, discardsPending: Bool) throws {
        // The queue gets new numbers under a new client ID. If that were lost in a crash, the queue could be uploaded
        // twice.
        try connection.run("PRAGMA synchronous = FULL")
        defer { try? connection.run("PRAGMA synchronous = NORMAL") }
        try write {
            var meta = try FileMeta.load(connection)
            meta.client = client
            meta.position = .none
            meta.acknowledged = 0
            meta.lastChangeset = try queue.renumber()
            try queue.rebase(on: 0)
            try connection.run("DELETE FROM tombolo_staged")
            try resets.set(discardsPending ? .discarding : .recovering)
            try meta.save(connection)
        }
    }

    // MARK: Batches

    /// Checks that the staged frames and those after them are exactly the batch's frames, each once.
    private func requireFrames(_ end: BatchEnd, _ frames: [BatchFrame]) throws {
        let stagedCount = max(0, end.frameCount - frames.count)
        guard frames.indices.allSatisfy({ frames[$0].sequence == stagedCount + $0 }) else {
            throw StagedFramesMissing(expected: end.frameCount, found: (frames.last?.sequence ?? 0) + 1)
        }
        // A batch without staged frames ignores those of an interrupted one.
        guard stagedCount > 0 else { return }
        let found = try connection.integer("SELECT count(*) FROM tombolo_staged") ?? 0
        let greatest = try connection.integer("SELECT max(sequence) FROM tombolo_staged") ?? 0
        guard found == stagedCount, greatest == stagedCount - 1 else {
            throw StagedFramesMissing(expected: end.frameCount, found: Int(found) + frames.count)
        }
    }

    /// - Parameter meta: the state before the batch.
    /// - Returns: the number of objects in the batch.
    private func applyRows(
        _ end: BatchEnd, _ frames: [BatchFrame], _ meta: FileMeta, isReset: Bool
    ) throws -> Int {
        let stagedCount = max(0, end.frameCount - frames.count)
        let hasPending = try !queue.isEmpty
        let changesRows = end.frameCount > 0 || end.replacesAll
        // A batch without rows and outcomes changes nothing.
        let replays = hasPending && (changesRows || end.acknowledged > meta.acknowledged)
        let isReplayed = try replays && mark.isSet
        if isReplayed, end.replacesAll, end.frameCount == 0, meta.position == .none, !isReset,
            end.acknowledged <= meta.acknowledged
        {
            // This is the first batch, and the server has nothing for the device. So all rows come from the queue
            // alone.
            if mayHaveStaged { try connection.run("DELETE FROM tombolo_staged") }
            try queue.rebase(on: end.position.tick)
            return 0
        }
        // Staged frames are decoded one at a time, so the objects in them aren't known in advance.
        var affected =
            isReplayed && !end.replacesAll && !isReset && stagedCount == 0
            ? try AffectedObjects(
                layout: file.layout, schema: schema, frames: frames, queue: queue, acknowledged: end.acknowledged)
            : nil
        var shown: ShownRows?
        var isQueued: ((ObjectReference) -> Bool)?
        if var objects = affected {
            try queue.remove(upTo: end.acknowledged)
            isQueued = try queue.touches()
            if let isQueued { shown = try ShownRows(file, frames, &objects, isQueued: isQueued) }
            affected = objects.count <= RebasedRows.maximumCount ? objects : nil
        }
        let rebased =
            try affected.map { try RebasedRows(file, $0) }
            ?? (replays && !end.replacesAll ? try RebasedRows(file) : nil)
        // After a reset that drops the queue, there are still rows beneath the dropped edits.
        if replays || isReset { try restore(affected) }
        if end.replacesAll {
            for table in file.layout.tables {
                file.recorder.noteEverything(table.classIndex)
                try connection.run("DELETE FROM \(table.table)")
            }
        }
        var count = 0
        for sequence in 0..<stagedCount { count += try frameWriter.write(stagedFrame(sequence)) }
        for (index, frame) in frames.enumerated() { count += try frameWriter.write(frame, except: shown?[index]) }
        if mayHaveStaged { try connection.run("DELETE FROM tombolo_staged") }
        if replays {
            try queue.remove(upTo: end.acknowledged)
            if end.replacesAll { try queue.rebase(on: end.position.tick) }
            if isReset {
                try recover()
            } else if affected == nil || isQueued.map({ affected?.contains(where: $0) == true }) ?? true {
                try replay(affected)
            }
            try rebased?.settle()
        }
        // With an empty queue there's nothing to replay, and a missing mark costs nothing until there is.
        if replays, affected == nil { try mark.set() }
        return count
    }

    /// Restores the server's rows.
    /// - Parameter affected: the objects to restore, or nil for all.
    private func restore(_ affected: AffectedObjects?) throws {
        file.recorder.columns = nil
        for table in file.layout.tables where table.schema.primaryKeyIndex != nil {
            guard let affected else {
                for statement in table.restore { try connection.run(statement) }
                continue
            }
            let keys = affected.keys[table.classIndex]
            guard !keys.isEmpty else { continue }
            let statements = try table.restoreByKey.map { try connection.statement($0) }
            for key in keys {
                for statement in statements {
                    statement.bind(key, at: 1)
                    try statement.run()
                }
            }
        }
    }

    /// Replays the queue.
    /// - Parameter affected: the objects to replay edits of, or nil for all.
    private func replay(_ affected: AffectedObjects? = nil) throws {
        try queue.forEach { changeset in
            for instruction in changeset.instructions where affected?.contains(instruction.reference) ?? true {
                try writer.perform(instruction)
            }
        }
    }

    /// - Throws: ``RecoveryFailed`` for a changeset that can't be read or replayed. Other errors may go away the next
    ///   time.
    private func recover() throws {
        do {
            try replay()
        } catch let error as SQLiteStoreError where error.code != .invalidInput {
            throw error
        } catch {
            throw RecoveryFailed(error)
        }
    }

    private func stagedFrame(_ sequence: Int) throws -> BatchFrame {
        let statement = try connection.statement("SELECT frame FROM tombolo_staged WHERE sequence = ?")
        defer { statement.reset() }
        statement.bind(Int64(sequence), at: 1)
        guard try statement.step() else {
            throw StagedFramesMissing(expected: sequence + 1, found: sequence)
        }
        return try codec.decodeBatchFrame(statement.bytes(at: 0))
    }
}
