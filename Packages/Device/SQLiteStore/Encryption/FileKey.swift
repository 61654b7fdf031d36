internal import Foundation

/// `tombolo_key`: the salt of a file with encrypted properties, and the check value that detects a wrong key. Created
/// with the first encrypted property.
enum FileKey {
    private static let table = "tombolo_key"
    private static let definition =
        "CREATE TABLE tombolo_key (id INTEGER PRIMARY KEY CHECK (id = 1), salt BLOB NOT NULL, check_value BLOB NOT NULL)"

    /// The file's cipher, or nil if the file has none or no key is given.
    /// - Throws: ``SQLiteStoreError`` if the key is wrong or has the wrong length.
    static func cipher(_ connection: SQLiteConnection, key: Data?) throws -> PropertyCipher? {
        guard let key else { return nil }
        guard key.count == PropertyCipher.keyByteCount else { throw wrongLength(key) }
        guard try exists(connection) else { return nil }
        let statement = try connection.statement("SELECT salt, check_value FROM tombolo_key")
        defer { statement.reset() }
        guard try statement.step() else {
            throw SQLiteStoreError(
                .invalidDatabase,
                "'\(connection.path)' is damaged: its row in tombolo_key is missing.")
        }
        let form = try FileOpening.storedFormat(connection) < FileMeta.format ? .shortenedKey : ValuePlace.Form.current
        let cipher = PropertyCipher(key: key, salt: Data(statement.bytes(at: 0)), form: form)
        guard cipher.matches(check: Data(statement.bytes(at: 1))) else {
            throw SQLiteStoreError(
                .invalidDatabase,
                "'\(connection.path)' was created with another encryptionKey. Open it with that key. Without it, the "
                    + "encrypted properties are lost and the file can only be deleted.")
        }
        return cipher
    }

    static func wrongLength(_ key: Data) -> SQLiteStoreError {
        SQLiteStoreError(
            .invalidInput,
            "Encryption key must be exactly \(PropertyCipher.keyByteCount) bytes long; \(key.count) were given.")
    }

    static func exists(_ connection: SQLiteConnection) throws -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'") != nil
    }

    /// Whether a key differs from the file's key.
    static func isOther(_ key: Data, _ connection: SQLiteConnection) throws -> Bool {
        do {
            _ = try cipher(connection, key: key)
            return false
        } catch let error as SQLiteStoreError where error.code == .invalidDatabase {
            return true
        }
    }

    /// Gives the file a new salt, in the caller's transaction. Existing values can no longer be decrypted.
    static func make(_ connection: SQLiteConnection, key: Data) throws -> PropertyCipher {
        try connection.execute("DROP TABLE IF EXISTS \(table)")
        try connection.execute(definition)
        let salt = PropertyCipher.newSalt()
        let cipher = PropertyCipher(key: key, salt: salt, form: .current)
        let insert = try connection.statement("INSERT INTO tombolo_key VALUES (1, ?, ?)")
        insert.bind(bytes: Array(salt), at: 1)
        insert.bind(bytes: Array(try cipher.makeCheck()), at: 2)
        try insert.run()
        try FileOpening.raiseFormat(connection)
        return cipher
    }

    /// Converts the encrypted values of a file in an older format to the current form, in its own transaction. Values
    /// that can't be decrypted stay unchanged.
    static func renewValues(_ connection: SQLiteConnection, key: Data?) throws {
        guard let old = try cipher(connection, key: key), let key, old.form != .current else { return }
        try connection.writeTransaction {
            let statement = try connection.statement("SELECT salt FROM tombolo_key")
            guard try statement.step() else { return }
            let new = PropertyCipher(key: key, salt: Data(statement.bytes(at: 0)), form: .current)
            statement.reset()
            try Resealing(connection, from: old, to: new, keepsUnreadable: true).run()
            try FileOpening.raiseFormat(connection)
        }
    }
}
