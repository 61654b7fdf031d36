internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// Rewrites queued changesets when the app dropped classes, lists or properties that they write: those writes go, the
/// others stay.
struct QueueMigration {
    private let old: Schema
    private let new: Schema
    /// Classes that the app no longer has, and whose objects queued changesets touch.
    private let abandoned: [String]

    /// - Parameters:
    ///   - stored: the classes as the file has them.
    ///   - abandoned: those of them that the app no longer has, and whose objects queued changesets touch.
    init(from stored: StoredSchema, to new: Schema, abandoned: [String]) throws {
        self.new = new
        self.abandoned = abandoned
        old = try stored.schema()
    }

    func run(_ connection: SQLiteConnection) throws {
        try rewriteQueue(connection)
        for name in abandoned {
            guard let index = old.index(of: name) else { continue }
            // No edit is left on them: what the file keeps of the class is the server's.
            for statement in TableLayout(schema: old, classIndex: index).restore { try connection.run(statement) }
        }
    }

    private func rewriteQueue(_ connection: SQLiteConnection) throws {
        let reader = MessageCodec(schema: old)
        let writer = MessageCodec(schema: new)
        var last: Int64 = 0
        while let number = try next(after: last, connection) {
            last = number
            let select = try connection.statement("SELECT changeset FROM tombolo_pending WHERE number = ?")
            select.bind(number, at: 1)
            guard try select.step() else { return }
            var changeset = try reader.decodeChangeset(select.bytes(at: 0))
            select.reset()
            changeset.instructions = changeset.instructions.compactMap(converted)
            let bytes = writer.encode(changeset)
            let update = try connection.statement(
                "UPDATE tombolo_pending SET changeset = ?, byte_count = ? WHERE number = ?")
            update.bind(bytes: bytes, at: 1)
            update.bind(Int64(bytes.count), at: 2)
            update.bind(number, at: 3)
            try update.run()
        }
    }

    private func next(after number: Int64, _ connection: SQLiteConnection) throws -> Int64? {
        let statement = try connection.statement(
            "SELECT number FROM tombolo_pending WHERE number > ? ORDER BY number LIMIT 1")
        defer { statement.reset() }
        statement.bind(number, at: 1)
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    /// Nil where the class is gone, or where nothing is left to write.
    private func converted(_ instruction: Instruction) -> Instruction? {
        let before = old[instruction.reference.classIndex]
        guard let classIndex = new.index(of: before.name) else { return nil }
        let reference = ObjectReference(classIndex: classIndex, key: instruction.reference.key)
        func column(_ index: Int) -> Int? { new[classIndex].columnIndex(before.columns[index].name) }
        func fields(_ fields: [FieldWrite]) -> [FieldWrite] {
            fields.compactMap { field in
                column(field.column).map { FieldWrite(column: $0, value: field.value, isDefault: field.isDefault) }
            }
        }
        switch instruction {
        case .create(_, let writes): return .create(reference, fields(writes))
        case .set(_, let writes):
            let left = fields(writes)
            return left.isEmpty ? nil : .set(reference, left)
        case .add(_, let index, let amount): return column(index).map { .add(reference, column: $0, amount: amount) }
        case .erase: return .erase(reference)
        }
    }
}
