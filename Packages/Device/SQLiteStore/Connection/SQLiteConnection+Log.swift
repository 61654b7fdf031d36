internal import GRDBSQLite

extension SQLiteConnection {
    /// Leaves it to the caller to copy the write-ahead log into the file, and counts its pages in ``logPageCount``.
    func keepLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pageCount in
                guard let context else { return SQLITE_OK }
                Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().logPageCount = pageCount
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies the log into the file, as far as no reader needs what it would replace.
    func checkpoint() { _ = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
}
