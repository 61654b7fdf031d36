package import TomboloChangesets
internal import TomboloModel
package import TomboloSyncProtocol

/// The upload queue, `tombolo_pending`. A changeset's number and base are columns, because a reset changes them. Used
/// in the caller's transaction.
package struct ChangesetQueue {
    private let connection: SQLiteConnection
    private let codec: MessageCodec
    private let decoded = DecodedChangesets()

    package init(_ file: StoreFile) {
        connection = file.connection
        codec = MessageCodec(schema: file.schema)
    }

    /// Assigns a number, base and stamp to a local transaction, and queues it.
    /// - Returns: the number.
    /// - Throws: ``SQLiteStoreError/Code/invalidInput`` for a transaction too large to upload.
    @discardableResult
    package func append(_ changeset: consuming ChangesetWriter, wallMicroseconds: Int64) throws -> Int64 {
        let count = changeset.instructionCount
        guard count <= Changeset.maximumInstructionCount else {
            throw tooLarge("\(count) changes; the limit is \(Changeset.maximumInstructionCount)")
        }
        // A changeset that its readers reject would block the queue.
        let fieldCount = changeset.fieldCount
        guard fieldCount <= MessageCodec.maximumFieldCount else {
            throw tooLarge("\(fieldCount) fields; the limit is \(MessageCodec.maximumFieldCount)")
        }
        var meta = try FileMeta.load(connection)
        meta.lastChangeset += 1
        let (number, base) = (meta.lastChangeset, meta.position.tick)
        let stamp = meta.clock.next(wallMicroseconds: wallMicroseconds)
        let bytes = changeset.finish(number: number, base: base, stamp: stamp)
        guard bytes.count <= MessageCodec.maximumChangesetByteCount else {
            throw tooLarge("\(bytes.count) bytes; the limit is \(MessageCodec.maximumChangesetByteCount)")
        }
        let insert = try connection.statement("INSERT INTO tombolo_pending VALUES (?, ?, ?, ?, ?)")
        insert.bind(number, at: 1)
        insert.bind(base, at: 2)
        insert.bind(stamp.microseconds, at: 3)
        insert.bind(Int64(bytes.count), at: 4)
        try insert.run(bytes: bytes, at: 5)
        try meta.save(connection)
        return number
    }

    private func tooLarge(_ what: String) -> SQLiteStoreError {
        SQLiteStoreError(
            .invalidInput, "The write transaction has \(what) in a synced Realm. Write in several transactions.")
    }

    package var isEmpty: Bool {
        get throws { try connection.integer("SELECT 1 FROM tombolo_pending LIMIT 1") == nil }
    }

    /// Changesets with greater numbers, in order: as many as the limits allow, but at least one if there is any.
    package func changesets(
        after number: Int64, maximumCount: Int = .max, maximumByteCount: Int = .max
    ) throws -> [Changeset] {
        let statement = try connection.statement("\(Self.selection) WHERE number > ? ORDER BY number")
        defer { statement.reset() }
        statement.bind(number, at: 1)
        var result: [Changeset] = []
        var byteCount = 0
        while result.isEmpty || result.count < maximumCount, try statement.step() {
            byteCount += Int(statement.integer(at: 3))
            if !result.isEmpty, byteCount > maximumByteCount { break }
            result.append(try changeset(statement))
        }
        return result
    }

    /// Calls `body` with every changeset up to a number, in order. `body` must not change the queue.
    package func forEach(upTo number: Int64 = .max, _ body: (Changeset) throws -> Void) throws {
        let statement = try connection.borrowStatement("\(Self.selection) WHERE number <= ? ORDER BY number")
        defer { connection.giveBack(statement) }
        statement.bind(number, at: 1)
        while try statement.step() { try body(changeset(statement)) }
    }

    /// Returns a function that tells whether an instruction on an object is queued. Nil if that would require reading
    /// changesets from the queue.
    func touches() throws -> ((ObjectReference) -> Bool)? {
        let statement = try connection.statement(
            "SELECT (SELECT min(number) FROM tombolo_pending), (SELECT max(number) FROM tombolo_pending)")
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        // Numbers have no gaps. Both are 0 if nothing is queued.
        let (first, last) = (statement.integer(at: 0), statement.integer(at: 1))
        let isComplete =
            last == 0 ? decoded.count == 0 : decoded.count == last - first + 1 && decoded.lastNumber == last
        return isComplete ? { [decoded] in decoded.touches($0) } : nil
    }

    private static let selection = "SELECT number, base, stamp, byte_count, changeset FROM tombolo_pending"

    private func changeset(_ row: SQLiteStatement) throws -> Changeset {
        let (number, base) = (row.integer(at: 0), row.integer(at: 1))
        if var known = decoded[Stamp(microseconds: row.integer(at: 2))] {
            (known.number, known.base) = (number, base)
            return known
        }
        let bytes = row.bytes(at: 4)
        var changeset = try codec.decodeQueuedChangeset(bytes)
        (changeset.number, changeset.base) = (number, base)
        decoded.add(changeset, byteCount: bytes.count)
        return changeset
    }

    /// Drops changesets whose outcome the device knows.
    package func remove(upTo number: Int64) throws {
        let statement = try connection.statement("DELETE FROM tombolo_pending WHERE number <= ?")
        statement.bind(number, at: 1)
        try statement.run()
        decoded.removeAll(upTo: number)
    }

    /// Sets the base tick of all remaining changesets.
    package func rebase(on tick: Int64) throws {
        let statement = try connection.statement("UPDATE tombolo_pending SET base = ?")
        statement.bind(tick, at: 1)
        try statement.run()
    }

    /// Renumbers the changesets from 1, in order.
    /// - Returns: the last number assigned.
    package func renumber() throws -> Int64 {
        decoded.removeAll()
        let select = try connection.statement("SELECT number FROM tombolo_pending ORDER BY number")
        var numbers: [Int64] = []
        while try select.step() { numbers.append(select.integer(at: 0)) }
        select.reset()
        for (index, number) in numbers.enumerated() {
            // New numbers are never greater than the old ones, so no new number is still in use.
            let update = try connection.statement("UPDATE tombolo_pending SET number = ? WHERE number = ?")
            update.bind(Int64(index + 1), at: 1)
            update.bind(number, at: 2)
            try update.run()
        }
        return Int64(numbers.count)
    }
}
