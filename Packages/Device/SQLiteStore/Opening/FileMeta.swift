package import TomboloChangesets
package import TomboloSyncProtocol

/// The only row of `tombolo_meta`: the file's identity and state.
package struct FileMeta {
    package var client: ClientID
    package var position: Position
    package var acknowledged: Int64
    package var lastChangeset: Int64
    package var clock: HybridClock

    /// The newest format. It's incremented when older versions of Tombolo couldn't read the file. A file gets a new
    /// format once it contains something that requires it:
    /// - 1: the initial format of every file;
    /// - 2: encrypted values are bound to the whole primary key, see ``ValuePlace``.
    static let format: Int64 = 2
    static let firstFormat: Int64 = 1

    static let tables = [
        """
        CREATE TABLE tombolo_meta (
            id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL, is_synced INTEGER NOT NULL,
            schema_version INTEGER NOT NULL, client INTEGER NOT NULL, tick INTEGER NOT NULL, token INTEGER NOT NULL,
            subscription_version INTEGER NOT NULL, rules_fingerprint INTEGER NOT NULL,
            schema_fingerprint INTEGER NOT NULL, acknowledged INTEGER NOT NULL, last_changeset INTEGER NOT NULL,
            clock_last INTEGER NOT NULL, clock_offset INTEGER NOT NULL)
        """,
        "CREATE TABLE tombolo_class (name TEXT PRIMARY KEY, description TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE tombolo_subscriptions (version INTEGER PRIMARY KEY, subscriptions BLOB NOT NULL)",
        """
        CREATE TABLE tombolo_pending (
            number INTEGER PRIMARY KEY, base INTEGER NOT NULL, stamp INTEGER NOT NULL, byte_count INTEGER NOT NULL,
            changeset BLOB NOT NULL)
        """,
        "CREATE TABLE tombolo_staged (sequence INTEGER PRIMARY KEY, frame BLOB NOT NULL)",
    ]

    static let insert =
        "INSERT INTO tombolo_meta VALUES (1, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0)"

    package static func load(_ connection: SQLiteConnection) throws -> FileMeta {
        let row = try connection.statement(
            "SELECT client, tick, token, subscription_version, rules_fingerprint, schema_fingerprint, acknowledged, "
                + "last_changeset, clock_last, clock_offset FROM tombolo_meta")
        defer { row.reset() }
        guard try row.step() else {
            throw SQLiteStoreError(
                .invalidDatabase,
                "'\(connection.path)' is damaged: its row in tombolo_meta is missing.")
        }
        return FileMeta(
            client: ClientID(rawValue: row.integer(at: 0)),
            position: Position(
                tick: row.integer(at: 1), token: row.integer(at: 2), subscriptionVersion: row.integer(at: 3),
                rulesFingerprint: UInt64(bitPattern: row.integer(at: 4)),
                schemaFingerprint: UInt64(bitPattern: row.integer(at: 5))),
            acknowledged: row.integer(at: 6), lastChangeset: row.integer(at: 7),
            clock: HybridClock(
                last: Stamp(microseconds: row.integer(at: 8)), offsetMicroseconds: row.integer(at: 9)))
    }

    package func save(_ connection: SQLiteConnection) throws {
        let update = try connection.statement(
            "UPDATE tombolo_meta SET client = ?, tick = ?, token = ?, subscription_version = ?, "
                + "rules_fingerprint = ?, schema_fingerprint = ?, acknowledged = ?, last_changeset = ?, "
                + "clock_last = ?, clock_offset = ?")
        let values: [Int64] = [
            client.rawValue, position.tick, position.token, position.subscriptionVersion,
            Int64(bitPattern: position.rulesFingerprint), Int64(bitPattern: position.schemaFingerprint), acknowledged,
            lastChangeset, clock.last.microseconds, clock.offsetMicroseconds,
        ]
        for (index, value) in values.enumerated() { update.bind(value, at: index + 1) }
        try update.run()
    }
}
