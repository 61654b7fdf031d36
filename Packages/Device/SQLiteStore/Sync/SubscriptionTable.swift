internal import TomboloModel
internal import TomboloSyncProtocol

/// The subscription sets in a synced file, back to the active one, and the notes on them.
struct SubscriptionTable {
    let connection: SQLiteConnection
    let codec: MessageCodec

    /// Creates the table of notes, which files created by earlier versions of Tombolo don't have.
    func prepare() throws {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'tombolo_subscription_notes'"
        guard try connection.integer(sql) == nil else { return }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS tombolo_subscription_notes "
                + "(version INTEGER PRIMARY KEY, notes BLOB NOT NULL, refusal TEXT)")
    }

    // MARK: Sets

    func set(version: Int64) throws -> SubscriptionSet? {
        let statement = try connection.statement("SELECT subscriptions FROM tombolo_subscriptions WHERE version = ?")
        defer { statement.reset() }
        statement.bind(version, at: 1)
        return try statement.step() ? try codec.decodeSubscriptionSet(statement.bytes(at: 0)) : nil
    }

    /// The newest set that the app asked for, even if the server refused it.
    func newest() throws -> SubscriptionSet? {
        try first("SELECT subscriptions FROM tombolo_subscriptions ORDER BY version DESC LIMIT 1")
    }

    /// The newest set that the server hasn't refused.
    func wanted() throws -> SubscriptionSet? {
        try first(
            "SELECT subscriptions FROM tombolo_subscriptions AS s WHERE NOT EXISTS (SELECT 1 "
                + "FROM tombolo_subscription_notes AS n WHERE n.version = s.version AND n.refusal IS NOT NULL) "
                + "ORDER BY version DESC LIMIT 1")
    }

    private func first(_ sql: String) throws -> SubscriptionSet? {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        return try statement.step() ? try codec.decodeSubscriptionSet(statement.bytes(at: 0)) : nil
    }

    /// Stores a set as the newest one. In the caller's transaction, like all methods that follow.
    /// - Throws: ``SQLiteStoreError/Code/outdated`` if the file has a newer version, or this version with different
    ///   content: the set is based on one that's no longer wanted. ``SQLiteStoreError/Code/invalidInput`` for a set
    ///   that couldn't be read again or sent.
    func insert(_ set: SubscriptionSet) throws {
        let bytes = codec.encode(set)
        try requireReadable(bytes)
        if let newest = try newest(), set.version <= newest.version {
            guard set == newest else {
                throw SQLiteStoreError(
                    .outdated,
                    "'\(connection.path)' already has subscription version \(newest.version); version \(set.version) "
                        + "is based on an older one. Change the current set.")
            }
        }
        let insert = try connection.statement(
            "INSERT INTO tombolo_subscriptions VALUES (?, ?) ON CONFLICT (version) DO NOTHING")
        insert.bind(set.version, at: 1)
        insert.bind(bytes: bytes, at: 2)
        try insert.run()
        let trim = try connection.statement(
            "DELETE FROM tombolo_subscriptions WHERE version <= ? "
                + "AND version <> (SELECT subscription_version FROM tombolo_meta)")
        trim.bind(set.version - Int64(SQLiteDeviceStore.maximumKeptSubscriptionSets), at: 1)
        try trim.run()
        try connection.run(Self.trimNotes)
    }

    private static let trimNotes =
        "DELETE FROM tombolo_subscription_notes WHERE version NOT IN (SELECT version FROM tombolo_subscriptions)"

    /// A set that its readers reject would block every connection.
    private func requireReadable(_ bytes: [UInt8]) throws {
        guard bytes.count <= MessageCodec.maximumSubscriptionSetByteCount else {
            throw SQLiteStoreError(
                .invalidInput,
                "The subscriptions have \(bytes.count) bytes; the limit is "
                    + "\(MessageCodec.maximumSubscriptionSetByteCount). Use fewer or shorter literals.")
        }
        do {
            _ = try codec.decodeSubscriptionSet(bytes)
        } catch {
            throw SQLiteStoreError(.invalidInput, error.message)
        }
    }

    /// Records that the content now comes from this set. Earlier sets are dropped.
    func activate(version: Int64) throws {
        guard version > 0 else { return }
        let exists = try connection.statement("SELECT 1 FROM tombolo_subscriptions WHERE version = ?")
        exists.bind(version, at: 1)
        let isKnown = try exists.step()
        exists.reset()
        guard isKnown else {
            throw SQLiteStoreError(
                .invalidInput,
                "The server sent a batch for subscription version \(version), which '\(connection.path)' no longer "
                    + "has. Reconnect with the current version.")
        }
        let delete = try connection.statement("DELETE FROM tombolo_subscriptions WHERE version < ?")
        delete.bind(version, at: 1)
        try delete.run()
        try connection.run(Self.trimNotes)
    }

    // MARK: Notes

    /// Why the server refused a set, or nil if it didn't.
    func refusal(version: Int64) throws -> String? {
        let statement = try connection.statement("SELECT refusal FROM tombolo_subscription_notes WHERE version = ?")
        defer { statement.reset() }
        statement.bind(version, at: 1)
        return try statement.step() ? statement.current.text(at: 0) : nil
    }

    func refuse(version: Int64, reason: String) throws {
        let statement = try connection.statement(
            "INSERT INTO tombolo_subscription_notes VALUES (?, '', ?) "
                + "ON CONFLICT (version) DO UPDATE SET refusal = excluded.refusal")
        statement.bind(version, at: 1)
        statement.bind(.string(reason), at: 2)
        try statement.run()
    }

    /// The app's notes on a set's subscriptions, or empty if there are none.
    func notes(version: Int64) throws -> [UInt8] {
        let statement = try connection.statement("SELECT notes FROM tombolo_subscription_notes WHERE version = ?")
        defer { statement.reset() }
        statement.bind(version, at: 1)
        return try statement.step() ? statement.bytes(at: 0) : []
    }

    func setNotes(_ notes: [UInt8], version: Int64) throws {
        let statement = try connection.statement(
            "INSERT INTO tombolo_subscription_notes VALUES (?, ?, NULL) "
                + "ON CONFLICT (version) DO UPDATE SET notes = excluded.notes")
        statement.bind(version, at: 1)
        statement.bind(bytes: notes, at: 2)
        try statement.run()
    }
}
