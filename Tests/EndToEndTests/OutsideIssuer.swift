import Crypto
import CryptoExtras
import Foundation

/// An issuer's key, and tokens signed with it.
struct OutsideKey: Sendable {
    private enum Secret: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case curve(P256.Signing.PrivateKey)
    }

    let id: String
    private let secret: Secret

    static func rs256(_ id: String) throws -> OutsideKey {
        OutsideKey(id: id, secret: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits2048)))
    }

    static func es256(_ id: String) -> OutsideKey { OutsideKey(id: id, secret: .curve(P256.Signing.PrivateKey())) }

    var algorithm: String { if case .rsa = secret { "RS256" } else { "ES256" } }

    /// The public key (RFC 7517).
    func jwk() throws -> String {
        switch secret {
        case .rsa(let key):
            let parts = try key.publicKey.getKeyPrimitives()
            return #"{"kty":"RSA","use":"sig","kid":"\#(id)","n":"\#(Self.base64(parts.modulus))","#
                + #""e":"\#(Self.base64(parts.publicExponent))"}"#
        case .curve(let key):
            let point = key.publicKey.x963Representation.dropFirst()
            return #"{"kty":"EC","crv":"P-256","use":"sig","kid":"\#(id)","x":"\#(Self.base64(point.prefix(32)))","#
                + #""y":"\#(Self.base64(point.suffix(32)))"}"#
        }
    }

    /// The public key as PEM, which a verifier that confuses algorithms would use as an HMAC secret.
    var publicPEM: String {
        switch secret {
        case .rsa(let key): key.publicKey.pemRepresentation
        case .curve(let key): key.publicKey.pemRepresentation
        }
    }

    /// - Parameters:
    ///   - changes: JSON texts of claims, replacing the valid ones.
    ///   - header: JSON text; the valid header by default.
    func token(_ subject: String, _ changes: [String: String] = [:], header: String? = nil) throws -> String {
        let text = Self.unsigned(subject, changes, header: header ?? #"{"alg":"\#(algorithm)","kid":"\#(id)"}"#)
        let signature =
            switch secret {
            case .rsa(let key): try key.signature(for: Data(text.utf8), padding: .insecurePKCS1v1_5).rawRepresentation
            case .curve(let key): try key.signature(for: Data(text.utf8)).rawRepresentation
            }
        return "\(text).\(Self.base64(signature))"
    }

    /// A token whose "signature" is an HMAC with the public key, which everybody knows.
    func confusedToken(_ subject: String) -> String {
        let text = Self.unsigned(subject, [:], header: #"{"alg":"HS256","kid":"\#(id)"}"#)
        let shared = SymmetricKey(data: Data(publicPEM.utf8))
        return "\(text).\(Self.base64(Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: shared))))"
    }

    func unsignedToken(_ subject: String) -> String {
        Self.unsigned(subject, [:], header: #"{"alg":"none","kid":"\#(id)"}"#) + "."
    }

    private static func unsigned(_ subject: String, _ changes: [String: String], header: String) -> String {
        let now = Int(Date().timeIntervalSince1970)
        var claims = [
            "iss": #""school""#, "aud": #""memos""#, "sub": #""\#(subject)""#, "exp": "\(now + 3_600)",
            "iat": "\(now)", "name": #""Name of \#(subject)""#,
        ]
        claims.merge(changes) { $1 }
        let text = claims.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        return "\(base64(Data(header.utf8))).\(base64(Data("{\(text)}".utf8)))"
    }

    /// RFC 4648, section 5, without padding.
    private static func base64(_ data: some DataProtocol) -> String {
        Data(data).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
