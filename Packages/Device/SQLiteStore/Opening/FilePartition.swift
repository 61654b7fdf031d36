internal import TomboloModel

/// `tombolo_partition`: the partition that a synced file belongs to. Files with subscriptions don't have the table.
enum FilePartition {
    private static let table = "tombolo_partition"

    /// - Throws: ``SQLiteStoreError`` if the file belongs to another partition or to none, because its queued changes
    ///   would end up elsewhere.
    static func check(_ connection: SQLiteConnection, is wanted: String?) throws {
        let stored = try stored(connection)
        guard stored != wanted else { return }
        func text(_ partition: String?) -> String { partition.map { "the partition '\($0)'" } ?? "subscriptions" }
        throw SQLiteStoreError(
            .incompatibleHistory,
            "'\(connection.path)' synchronises with \(text(stored)) but was opened for \(text(wanted)). Use another "
                + "file name, or delete the file.")
    }

    static func write(_ partition: String, _ connection: SQLiteConnection) throws {
        try connection.execute("CREATE TABLE \(table) (name TEXT NOT NULL)")
        let insert = try connection.statement("INSERT INTO \(table) VALUES (?)")
        insert.bind(.string(partition), at: 1)
        try insert.run()
    }

    private static func stored(_ connection: SQLiteConnection) throws -> String? {
        let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'"
        guard try connection.integer(exists) != nil else { return nil }
        let select = try connection.statement("SELECT name FROM \(table)")
        defer { select.reset() }
        return try select.step() ? select.text(at: 0) : nil
    }
}
