internal import Crypto
internal import Foundation
package import TomboloModel

/// Encrypts the values of properties declared with `@Persisted(encrypted: true)`.
///
/// Uses AES-256-GCM with a random nonce for each value, stored as nonce, ciphertext and tag. The class, the property
/// and the row's primary key are authenticated too, so that a value can't be moved to another place; see
/// ``ValuePlace``. The key is derived from the configuration's key by HKDF-SHA512 with the file's salt (RFC 5869), so
/// that two files with the same configuration key use different derived keys. Not hidden: whether a value is nil, and
/// its length. Not detected: an earlier value put back in the same place.
package struct PropertyCipher: Sendable {
    /// The same length as in Realm.
    package static let keyByteCount = 64
    static let saltByteCount = 32

    private let valueKey: SymmetricKey
    private let checkKey: SymmetricKey
    /// How the file's values are bound to their places.
    let form: ValuePlace.Form

    /// - Parameter key: ``keyByteCount`` bytes.
    init(key: Data, salt: Data, form: ValuePlace.Form) {
        self.form = form
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA512>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: key), salt: salt, info: Data("Tombolo \(purpose) 1".utf8),
                outputByteCount: 32)
        }
        valueKey = derived("property")
        checkKey = derived("check")
    }

    static func newSalt() -> Data {
        SymmetricKey(size: SymmetricKeySize(bitCount: saltByteCount * 8)).withUnsafeBytes { Data($0) }
    }

    // MARK: The check value, which detects a wrong key

    func makeCheck() throws -> Data { try Self.combined(AES.GCM.seal(Data(), using: checkKey)) }

    func matches(check: Data) -> Bool {
        guard let box = try? AES.GCM.SealedBox(combined: check) else { return false }
        return (try? AES.GCM.open(box, using: checkKey)) != nil
    }

    // MARK: Values

    /// Encrypts a value. Nil stays nil.
    package func seal(_ value: Value, _ className: String, _ property: String, key: Value) throws -> Value {
        let plain: Data
        switch value {
        case .null: return .null
        case .string(let text): plain = Data(text.utf8)
        case .data(let data): plain = data
        default:
            throw SQLiteStoreError(
                .invalidInput, "'\(className).\(property)' is encrypted and cannot hold \(value).")
        }
        let place = try ValuePlace(className, property, key).bytes(form)
        return .data(try Self.combined(AES.GCM.seal(plain, using: valueKey, authenticating: place)))
    }

    /// Decrypts a value.
    /// - Throws: ``SQLiteStoreError`` with the code `invalidDatabase` for bytes that weren't encrypted for this place.
    package func open(
        _ value: Value, as type: PropertyType, _ className: String, _ property: String, key: Value
    ) throws -> Value {
        guard case .data(let sealed) = value else { return .null }
        let place = ValuePlace(className, property, key)
        guard let plain = opened(sealed, place, form) ?? openedInNewForm(sealed, place) else {
            throw SQLiteStoreError(
                .invalidDatabase,
                "The encrypted value of '\(className).\(property)' in object \(key) is damaged or was put there by "
                    + "another program. Restore a backup, or set the property again.")
        }
        return type == .data ? .data(plain) : .string(String(decoding: plain, as: UTF8.self))
    }

    private func opened(_ sealed: Data, _ place: ValuePlace, _ form: ValuePlace.Form) -> Data? {
        guard let box = try? AES.GCM.SealedBox(combined: sealed), let bytes = try? place.bytes(form) else { return nil }
        return try? AES.GCM.open(box, using: valueKey, authenticating: bytes)
    }

    /// Another process may convert a file to the new form while it's open read-only here.
    private func openedInNewForm(_ sealed: Data, _ place: ValuePlace) -> Data? {
        form == .current ? nil : opened(sealed, place, .current)
    }

    private static func combined(_ box: AES.GCM.SealedBox) throws -> Data {
        guard let combined = box.combined else {
            throw SQLiteStoreError(.failure, "AES-GCM returned no combined form of a value.")
        }
        return combined
    }
}
