package import Foundation
internal import GRDBSQLite
internal import TomboloModel
internal import TomboloSQL

/// Copies of device files.
package enum FileCopy {
    /// Writes the version that the file's connection reads into a new local file. The copy is compacted, a single file,
    /// and readable even where no files can be written beside it.
    /// - Parameter key: the key for the copy's encrypted properties. If it's the file's own key, the bytes stay the
    ///   same.
    /// - Throws: ``SQLiteStoreError`` with the code `fileExists` if the file already exists. It stays unchanged.
    package static func write(_ file: StoreFile, to path: String, key: Data?) throws {
        guard !FileManager.default.fileExists(atPath: path) else { throw exists(path) }
        try UnfinishedFile.make(.copy, for: path) { unfinished in
            let copy = try SQLiteConnection(path: unfinished, durability: .off)
            try copy.take(from: file.connection)
            try copy.writeTransaction {
                if file.isSynced { try makeLocal(copy, file.layout) }
                if let cipher = file.cipher, let key { try changeKey(copy, from: cipher, to: key) }
            }
            try settle(copy)
            guard try publish(unfinished, at: path) else { throw exists(path) }
        }
    }

    private static func exists(_ path: String) -> SQLiteStoreError {
        SQLiteStoreError(.fileExists, "'\(path)' already exists. Delete it, or choose another path.")
    }

    /// Moves all content into the file itself, so that there are no files beside it.
    package static func settle(_ path: String) throws { try settle(SQLiteConnection(path: path, durability: .off)) }

    private static func settle(_ connection: SQLiteConnection) throws {
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA synchronous = FULL")
    }

    /// Atomically gives a finished file its final name, unless a file with that name exists.
    /// - Returns: false if the name exists.
    package static func publish(_ unfinished: String, at path: String) throws -> Bool {
        let handle = open(unfinished, O_RDONLY)
        if handle >= 0 {
            fsync(handle)
            close(handle)
        }
        if link(unfinished, path) == 0 { return true }
        if errno == EEXIST { return false }
        // For file systems without hard links.
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS, !FileManager.default.fileExists(atPath: path),
            rename(unfinished, path) == 0
        else {
            throw SQLiteStoreError(.fileAccess, "Can't create '\(path)': \(String(cString: strerror(errno))).")
        }
        return true
    }

    /// Removes everything that's only needed for synchronising. The rows stay, including edits that weren't uploaded.
    private static func makeLocal(_ copy: SQLiteConnection, _ layout: FileLayout) throws {
        try copy.execute("UPDATE tombolo_meta SET is_synced = 0, client = 0")
        for table in ["tombolo_pending", "tombolo_staged", "tombolo_subscriptions"] {
            try copy.execute("DELETE FROM \(table)")
        }
        try copy.execute("DROP TABLE IF EXISTS tombolo_subscription_notes")
        try copy.execute("DROP TABLE IF EXISTS tombolo_refusals")
        try copy.execute("DROP TABLE IF EXISTS tombolo_reset")
        try copy.execute("DROP TABLE IF EXISTS \(ReplayMark.table)")
        let names = try copy.names(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'tombolo_beneath_%'")
        for name in names { try copy.execute("DROP TABLE \(SQLDialect.sqlite.quoted(name))") }
    }

    private static func changeKey(_ copy: SQLiteConnection, from old: PropertyCipher, to key: Data) throws {
        guard key.count == PropertyCipher.keyByteCount else { throw FileKey.wrongLength(key) }
        guard try FileKey.isOther(key, copy) else { return }
        try Resealing(copy, from: old, to: FileKey.make(copy, key: key), keepsUnreadable: false).run()
    }
}

extension SQLiteConnection {
    /// Makes this database a copy of the version that another connection reads.
    fileprivate func take(from other: SQLiteConnection) throws {
        guard let backup = sqlite3_backup_init(handle, "main", other.handle, "main") else {
            throw error(sqlite3_errcode(handle), sql: nil)
        }
        let result = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE else { throw error(result, sql: nil) }
    }

    /// The first column of every row.
    fileprivate func names(_ sql: String) throws -> [String] {
        let statement = try statement(sql)
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(at: 0)) }
        return names
    }
}
