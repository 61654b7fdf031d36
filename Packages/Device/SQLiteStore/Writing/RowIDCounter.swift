internal import TomboloModel

/// The last rowids assigned to objects of classes without a primary key, which are identified by rowid. A rowid is
/// never reused. SQLite alone would assign the newest row's rowid again after that row is deleted, and an instance of
/// the deleted object would show the new object's values. Used in the caller's write transaction.
package struct RowIDCounter {
    private let connection: SQLiteConnection
    private let layout: FileLayout

    package init(_ file: StoreFile) {
        connection = file.connection
        layout = file.layout
    }

    /// Created on first use, because files without keyless classes don't need the table.
    private func makeTable() throws {
        try connection.run(
            "CREATE TABLE IF NOT EXISTS tombolo_rowid (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID")
    }

    package func last(_ classIndex: Int) throws -> Int64 {
        try makeTable()
        let table = layout.tables[classIndex]
        let statement = try connection.statement(
            "SELECT max(coalesce((SELECT max(rowid) FROM \(table.table)), 0), "
                + "coalesce((SELECT last FROM tombolo_rowid WHERE name = ?), 0))")
        defer { statement.reset() }
        statement.bind(.string(table.schema.name), at: 1)
        return try statement.step() ? statement.integer(at: 0) : 0
    }

    package func keep(_ last: Int64, _ classIndex: Int) throws {
        let statement = try connection.statement(
            "INSERT INTO tombolo_rowid VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = excluded.last")
        statement.bind(.string(layout.schema[classIndex].name), at: 1)
        statement.bind(last, at: 2)
        try statement.run()
    }
}
