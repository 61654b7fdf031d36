internal import Crypto
internal import Foundation

/// A private key, or the secret of a second factor, as the database stores it: sealed with AES-GCM under a key that
/// HKDF-SHA256 derives from the servers' secret. So neither the database nor the secret alone is enough to sign, or to
/// make codes. Its id is authenticated as well: a row can't be passed off as another's.
enum SealedKey {
    static let signingKey = "tombolo signing key "
    static let secondFactor = "tombolo second factor "

    /// - Parameter purpose: what the text is for. It can't be passed off as text for another purpose.
    static func seal(
        _ text: String, id: String, purpose: String = Self.signingKey, secret: String
    ) throws -> [UInt8] {
        let box = try AES.GCM.seal(
            Data(text.utf8), using: key(id: id, purpose, secret: secret), authenticating: Data(id.utf8))
        guard let combined = box.combined else { throw AuthenticationError.unreadableKey(id: id) }
        return Array(combined)
    }

    /// - Returns: nil if it was sealed under another secret, or was tampered with.
    static func open(
        _ sealed: [UInt8], id: String, purpose: String = Self.signingKey, secret: String
    ) -> String? {
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)),
            let opened = try? AES.GCM.open(
                box, using: key(id: id, purpose, secret: secret), authenticating: Data(id.utf8))
        else { return nil }
        return String(decoding: opened, as: UTF8.self)
    }

    private static func key(id: String, _ purpose: String, secret: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: Data(secret.utf8)), info: Data((purpose + id).utf8),
            outputByteCount: 32)
    }
}
