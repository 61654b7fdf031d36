package import Foundation

/// Inspects a file without opening a Realm.
package enum FileInspection {
    /// - Throws: ``SQLiteStoreError`` if the file isn't a Tombolo file or the key is wrong.
    package static func schemaVersion(_ path: String, key: Data?) throws -> UInt64 {
        let connection = try SQLiteConnection(path: path, readOnly: true, durability: .full)
        try requireOurs(connection)
        _ = try FileKey.cipher(connection, key: key)
        return try FileOpening.storedVersion(connection)
    }

    /// Whether a file has or had encrypted properties; false if it doesn't exist.
    package static func hasEncryptedProperties(_ path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        return try FileKey.exists(SQLiteConnection(path: path, readOnly: true, durability: .full))
    }

    static func requireOurs(_ connection: SQLiteConnection) throws {
        guard try FileOpening.isMade(connection) else {
            throw SQLiteStoreError(.invalidDatabase, "'\(connection.path)' is not a Tombolo file.")
        }
        try FileOpening.checkFormat(connection)
    }
}
