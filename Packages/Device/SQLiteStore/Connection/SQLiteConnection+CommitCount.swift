internal import GRDBSQLite

extension SQLiteConnection {
    /// The number of commits in the write-ahead log, by anyone. It's read from the connections' shared memory
    /// (`iChange` in <https://www.sqlite.org/walformat.html#the_wal_index_header>). Unlike `PRAGMA data_version`, it
    /// doesn't change when the log is merely restarted. It may be ahead of the version that this connection reads. Nil
    /// without a log.
    var commitCount: UInt32? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        // If there is no log, requesting the memory would create a file for it.
        guard hasWriteAheadLog,
            sqlite3_file_control(handle, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let map = file.pointee.pMethods?.pointee.xShmMap
        else { return nil }
        var region: UnsafeMutableRawPointer?
        // For a read-only connection, this maps the memory but returns SQLITE_READONLY.
        _ = map(file, 0, WALIndex.regionByteCount, 0, &region)
        guard let region, region.load(as: UInt32.self) == WALIndex.version,
            region.load(fromByteOffset: WALIndex.isInitializedOffset, as: UInt8.self) != 0
        else { return nil }
        return region.load(fromByteOffset: WALIndex.commitCountOffset, as: UInt32.self)
    }
}

/// Offsets in the shared memory.
private enum WALIndex {
    static let version: UInt32 = 3_007_000
    static let regionByteCount: Int32 = 32_768
    static let commitCountOffset = 8
    static let isInitializedOffset = 12
}
