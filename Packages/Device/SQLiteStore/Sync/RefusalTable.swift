internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// The server's refusals that the app hasn't been told of yet, in the order in which they arrived.
struct RefusalTable {
    let connection: SQLiteConnection
    let codec: MessageCodec

    /// Creates the table, which files created by earlier versions of Tombolo don't have.
    func prepare() throws {
        guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'tombolo_refusals'") == nil else {
            return
        }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS tombolo_refusals (id INTEGER PRIMARY KEY, refusal BLOB NOT NULL)")
    }

    /// Stores refusals, in the caller's transaction. Drops the oldest beyond ``UntoldRefusal/maximumCount``.
    func append(_ refusals: [RefusedWrite]) throws {
        guard !refusals.isEmpty else { return }
        let statement = try connection.statement("INSERT INTO tombolo_refusals (refusal) VALUES (?)")
        for refusal in refusals {
            statement.bind(bytes: codec.encode(refusal), at: 1)
            try statement.run()
        }
        try connection.run(
            "DELETE FROM tombolo_refusals WHERE id <= (SELECT max(id) FROM tombolo_refusals) - "
                + "\(UntoldRefusal.maximumCount)")
    }

    func all(after id: Int64) throws -> [UntoldRefusal] {
        let statement = try connection.statement("SELECT id, refusal FROM tombolo_refusals WHERE id > ? ORDER BY id")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        var result: [UntoldRefusal] = []
        while try statement.step() {
            result.append(
                UntoldRefusal(id: statement.integer(at: 0), write: try codec.decodeRefusedWrite(statement.bytes(at: 1)))
            )
        }
        return result
    }

    func remove(through id: Int64) throws {
        let statement = try connection.statement("DELETE FROM tombolo_refusals WHERE id <= ?")
        statement.bind(id, at: 1)
        try statement.run()
    }
}
