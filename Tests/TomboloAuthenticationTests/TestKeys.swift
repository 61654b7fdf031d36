import Crypto
import Foundation

@testable import TomboloAuthentication

/// A signing key without a database. It makes tokens with any header and claims, as someone with or without the key
/// could.
struct TestKeys: Sendable {
    let id: String
    private let key = P256.Signing.PrivateKey()

    init(id: String = UUID().uuidString) { self.id = id }

    var publicPEM: String { key.publicKey.pemRepresentation }

    func ring() -> KeyRing {
        let known = SigningKey(id: id, createdAt: Date(), retiredAt: nil, publicKey: publicPEM)
        let text = key.pemRepresentation
        return KeyRing(
            KeyRing.Source(keys: { [known] }, privateKey: { $0 == known.id ? text : nil }, makeFirst: {}), now: { 0 })
    }

    /// - Parameters:
    ///   - claims: JSON text.
    /// - header: JSON text; by default the right one.
    ///   - secret: signs with HMAC-SHA256 instead.
    func token(_ claims: String, header: String? = nil, secret: String? = nil) throws -> String {
        let header = header ?? #"{"alg":"ES256","kid":"\#(id)","typ":"JWT"}"#
        let text = "\(Array(header.utf8).base64URL).\(Array(claims.utf8).base64URL)"
        let signature: [UInt8]
        if let secret {
            let shared = SymmetricKey(data: Data(secret.utf8))
            signature = Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: shared))
        } else {
            signature = Array(try key.signature(for: Data(text.utf8)).rawRepresentation)
        }
        return "\(text).\(signature.base64URL)"
    }
}
