internal import Crypto
internal import Foundation

/// A private key as the database has it: sealed with AES-GCM under a key that HKDF-SHA256 derives from the servers'
/// secret, so that neither the database nor the secret alone is enough to sign. The key's id is part of what is
/// authenticated: a row can't be passed off as another key's.
enum SealedKey {
    private static let purpose = "tombolo signing key "

    static func seal(_ privateKey: String, id: String, secret: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            Data(privateKey.utf8), using: key(id: id, secret: secret), authenticating: Data(id.utf8))
        guard let combined = box.combined else { throw AuthenticationError.unreadableKey(id: id) }
        return Array(combined)
    }

    /// - Returns: nil if it was sealed under another secret, or was changed.
    static func open(_ sealed: [UInt8], id: String, secret: String) -> String? {
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)),
            let opened = try? AES.GCM.open(box, using: key(id: id, secret: secret), authenticating: Data(id.utf8))
        else { return nil }
        return String(decoding: opened, as: UTF8.self)
    }

    private static func key(id: String, secret: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data((purpose + id).utf8),
            outputByteCount: 32)
    }
}
