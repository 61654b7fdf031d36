internal import GRDBSQLite

extension SQLiteConnection {
    /// Makes the caller responsible for copying the write-ahead log into the file, and counts the log's pages in
    /// ``logPageCount``.
    func keepLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pageCount in
                guard let context else { return SQLITE_OK }
                Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().logPageCount = pageCount
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies the log into the file, except parts that would overwrite what a reader still needs.
    func checkpoint() { _ = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
}
