internal import TomboloSyncSession

/// The progress of a client reset: the only row of `tombolo_reset`, or no row. Used in the caller's transaction.
struct ResetTable {
    let connection: SQLiteConnection

    /// Creates the table, which files created by earlier versions of Tombolo don't have.
    func prepare() throws {
        guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'tombolo_reset'") == nil else { return }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS tombolo_reset (id INTEGER PRIMARY KEY CHECK (id = 1), state INTEGER NOT NULL)")
    }

    func state() throws -> ClientReset? {
        try connection.integer("SELECT state FROM tombolo_reset").flatMap(ClientReset.init)
    }

    func set(_ state: ClientReset) throws {
        let statement = try connection.statement(
            "INSERT INTO tombolo_reset VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state")
        statement.bind(state.rawValue, at: 1)
        try statement.run()
    }

    func clear() throws { try connection.run("DELETE FROM tombolo_reset") }
}
