import Foundation
import JWTKit
import TomboloModel

/// Signs and checks access tokens with HMAC-SHA256.
struct TokenSigner: Sendable {
    /// Longer texts are no tokens of ours, in bytes.
    static let maximumTokenByteCount = 4_096

    private let configuration: TokenConfiguration
    private let keys: JWTKeyCollection

    init(_ configuration: TokenConfiguration) async {
        self.configuration = configuration
        keys = await JWTKeyCollection().add(hmac: HMACKey(from: configuration.secret), digestAlgorithm: .sha256)
    }

    func sign(_ userID: ObjectId, now: Date) async throws -> AccessToken {
        let issued = Int64(now.timeIntervalSince1970)
        let expires = issued + configuration.lifetimeSeconds
        let token = try await keys.sign(
            TokenClaims(
                iss: configuration.issuer, aud: configuration.audience, sub: userID.stringValue, iat: issued,
                exp: expires))
        return AccessToken(
            token: token, userID: userID, expiresAt: Date(timeIntervalSince1970: TimeInterval(expires)))
    }

    /// The user that a token speaks for.
    func verify(_ token: String, now: Date) async throws(AuthenticationError) -> ObjectId {
        guard token.utf8.count <= Self.maximumTokenByteCount else {
            throw .invalidToken(reason: "It is longer than \(Self.maximumTokenByteCount) bytes.")
        }
        let claims: TokenClaims
        do {
            claims = try await keys.verify(token, as: TokenClaims.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw .invalidToken(reason: "Its signature is not this server's.")
        } catch {
            throw .invalidToken(reason: "It is no JSON Web Token of this server.")
        }
        guard claims.iss == configuration.issuer, claims.aud == configuration.audience else {
            throw .invalidToken(reason: "It was issued by or for somebody else.")
        }
        let now = Int64(now.timeIntervalSince1970)
        guard now < claims.exp + TokenConfiguration.clockToleranceSeconds else {
            throw .expiredToken(expiredAt: claims.exp)
        }
        guard claims.iat <= now + TokenConfiguration.clockToleranceSeconds else {
            throw .invalidToken(reason: "It was issued in the future.")
        }
        do throws(ValueError) {
            return try ObjectId(string: claims.sub)
        } catch {
            throw .invalidToken(reason: "It names no user.")
        }
    }
}
