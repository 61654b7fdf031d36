internal import Foundation
internal import TomboloModel

/// Checks that a schema's encrypted properties match the way its file is opened.
enum EncryptedProperties {
    static func names(_ schema: Schema) -> [String] {
        schema.classes.flatMap { item in item.columns.filter(\.isEncrypted).map { "\(item.name).\($0.name)" } }
    }

    static func check(_ schema: Schema, _ options: StoreOptions) throws {
        guard let first = names(schema).first else { return }
        guard options.isSynced != true else {
            throw SQLiteStoreError(
                .invalidInput,
                "'\(first)' is encrypted, and its class is synced: the server could only see bytes that it can neither "
                    + "check, merge nor query. Keep the class in a local Realm, or do without encryption.")
        }
        guard let key = options.encryptionKey else {
            throw SQLiteStoreError(
                .invalidInput,
                "'\(first)' is encrypted: give the configuration an encryptionKey of \(PropertyCipher.keyByteCount) "
                    + "bytes, and keep it where the system keeps secrets.")
        }
        guard key.count == PropertyCipher.keyByteCount else { throw FileKey.wrongLength(key) }
    }
}
