/// Compacts a file when it's opened.
enum Compaction {
    /// Calls `condition` with the size of the file and of its used part, in bytes, and compacts the file if it returns
    /// true. A file that others are writing to isn't compacted this time.
    static func run(_ connection: SQLiteConnection, where condition: (Int, Int) -> Bool) {
        guard !connection.isReadOnly, let pageSize = try? connection.integer("PRAGMA page_size"),
            let pages = try? connection.integer("PRAGMA page_count"),
            let free = try? connection.integer("PRAGMA freelist_count"),
            condition(Int(pages * pageSize), Int((pages - free) * pageSize))
        else { return }
        try? connection.execute("VACUUM")
        // VACUUM writes to the write-ahead log. The checkpoint then shortens the file itself.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
