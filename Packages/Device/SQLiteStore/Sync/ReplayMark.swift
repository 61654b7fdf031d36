/// Whether the rows of a synced file are what the queued changesets make of the server's: then a batch replays only what it is
/// about. A row in `tombolo_replayed` says so. It goes when an app's update changes the classes: a class that comes back lacks
/// what is queued for it. Inside the caller's transaction.
struct ReplayMark {
    static let table = "tombolo_replayed"

    let connection: SQLiteConnection

    /// Creates the table, which files made by earlier versions of Tombolo lack.
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

    /// For files of any version.
    func clear() throws {
        if try isPrepared { try connection.execute("DELETE FROM \(Self.table)") }
    }
}
