package import TomboloModel

/// Lists of literals that are too long to bind, stored in a temporary table of the connection.
package enum LiteralLists {
    /// The table's name, for `SQLBuilder.listTable`.
    package static let table = "temp.tombolo_literals"

    /// Replaces the table's content with `lists`, numbered from 0. Call this in the query's transaction.
    package static func fill(_ lists: [[Value]], on connection: SQLiteConnection) throws {
        try connection.run(
            "CREATE TEMP TABLE IF NOT EXISTS tombolo_literals (list INTEGER, value, PRIMARY KEY (list, value)) "
                + "WITHOUT ROWID")
        try connection.run("DELETE FROM \(table)")
        let insert = try connection.statement("INSERT OR IGNORE INTO \(table) VALUES (?, ?)")
        for (number, list) in lists.enumerated() {
            for value in list {
                insert.bind(Int64(number), at: 1)
                insert.bind(value, at: 2)
                try insert.run()
            }
        }
        insert.clear()
    }
}
