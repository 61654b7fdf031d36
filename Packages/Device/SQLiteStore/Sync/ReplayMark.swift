/// Records whether the rows of a synced file are the server's rows with all queued changesets applied. If so, a batch
/// only has to replay edits of the objects it affects. The mark is a row in `tombolo_replayed`. An app update that
/// changes the classes clears it, because a class that comes back lacks the queued edits. Used in the caller's
/// transaction.
struct ReplayMark {
    static let table = "tombolo_replayed"

    let connection: SQLiteConnection

    /// Creates the table, which files created by earlier versions of Tombolo don't have.
    func prepare() throws {
        guard try !isPrepared else { return }
        try connection.execute("CREATE TABLE IF NOT EXISTS \(Self.table) (id INTEGER PRIMARY KEY CHECK (id = 1))")
    }

    private var isPrepared: Bool {
        get throws { try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = '\(Self.table)'") != nil }
    }

    var isSet: Bool {
        get throws { try connection.integer("SELECT 1 FROM \(Self.table)") != nil }
    }

    func set() throws { try connection.run("INSERT OR IGNORE INTO \(Self.table) VALUES (1)") }

    /// Clears the mark, in files of any version.
    func clear() throws {
        if try isPrepared { try connection.execute("DELETE FROM \(Self.table)") }
    }
}
