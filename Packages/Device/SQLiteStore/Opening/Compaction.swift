/// Compacting a file when it is opened.
enum Compaction {
    /// Asks `condition` for the sizes of the file and of what of it is in use, in bytes, and compacts where it says so.
    /// A file that others are writing is left as it is: there will be another opening.
    static func run(_ connection: SQLiteConnection, where condition: (Int, Int) -> Bool) {
        guard !connection.isReadOnly, let pageSize = try? connection.integer("PRAGMA page_size"),
            let pages = try? connection.integer("PRAGMA page_count"),
            let free = try? connection.integer("PRAGMA freelist_count"),
            condition(Int(pages * pageSize), Int((pages - free) * pageSize))
        else { return }
        try? connection.execute("VACUUM")
        // VACUUM goes through the write-ahead log; this shortens the file itself.
        try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
