internal import Crypto
internal import Foundation
internal import TomboloModel

/// The text that a device exchanges for new tokens: `tombolo_r_`, then in base64url without padding
///
///     bytes 0..<12    the login session's id
///     bytes 12..<28   the family: the same in all refresh tokens of the session
///     bytes 28..<60   the secret: another one in each
///
/// The database has only SHA-256 hashes of family and secret. Somebody with the right family but a stale secret has, or
/// had, a real token of the session. Somebody who only knows the session's id can't end it.
struct RefreshToken: Hashable, Sendable {
    static let prefix = "tombolo_r_"
    static let familyByteCount = 16
    static let secretByteCount = 32
    private static let sessionByteCount = 12

    let sessionID: ObjectId
    let family: [UInt8]
    let secret: [UInt8]

    /// A new session's first token.
    init(sessionID: ObjectId) {
        self.sessionID = sessionID
        family = .random(count: Self.familyByteCount)
        secret = .random(count: Self.secretByteCount)
    }

    private init(sessionID: ObjectId, family: [UInt8], secret: [UInt8]) {
        self.sessionID = sessionID
        self.family = family
        self.secret = secret
    }

    /// - Returns: nil for any other text.
    init?(_ text: String) {
        guard let bytes = text.bytes(after: Self.prefix),
            bytes.count == Self.sessionByteCount + Self.familyByteCount + Self.secretByteCount,
            let sessionID = ObjectId(bytes: Array(bytes.prefix(Self.sessionByteCount)))
        else { return nil }
        self.sessionID = sessionID
        family = Array(bytes.dropFirst(Self.sessionByteCount).prefix(Self.familyByteCount))
        secret = Array(bytes.suffix(Self.secretByteCount))
    }

    var text: String { Self.prefix + (sessionID.bytes + family + secret).base64URL }
    var familyHash: [UInt8] { family.sha256 }
    var secretHash: [UInt8] { secret.sha256 }

    /// The token that this one is exchanged for. The same seed gives the same token, so that a device whose answer was
    /// lost gets it again. Neither the seed alone nor this token alone reveals it.
    func successor(seed: [UInt8]) -> RefreshToken {
        let secret = HMAC<SHA256>.authenticationCode(for: secret, using: SymmetricKey(data: seed))
        return RefreshToken(sessionID: sessionID, family: family, secret: Array(secret))
    }
}

extension RefreshToken: CustomStringConvertible, CustomReflectable {
    /// Without family and secret: they must not end up in logs.
    var description: String { "<refresh token of \(sessionID)>" }
    var customMirror: Mirror { Mirror(self, children: ["sessionID": sessionID]) }
}
