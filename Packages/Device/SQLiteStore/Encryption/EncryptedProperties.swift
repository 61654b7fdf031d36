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
                "'\(first)' is encrypted but its class is synced. The server can't check, merge or query encrypted "
                    + "bytes. Keep the class in a local Realm, or don't encrypt the property.")
        }
        guard let key = options.encryptionKey else {
            throw SQLiteStoreError(
                .invalidInput,
                "'\(first)' is encrypted: set the configuration's encryptionKey, which has "
                    + "\(PropertyCipher.keyByteCount) bytes, and keep the key in the system's secret store.")
        }
        guard key.count == PropertyCipher.keyByteCount else { throw FileKey.wrongLength(key) }
    }
}
