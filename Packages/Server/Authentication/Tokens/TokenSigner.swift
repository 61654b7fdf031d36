import Foundation
import JWTKit
import Synchronization
import TomboloModel

/// Signs and checks access tokens with the installation's keys.
final class TokenSigner: Sendable {
    /// Longer texts can't be our tokens, in bytes.
    static let maximumTokenByteCount = 4_096

    private let configuration: TokenConfiguration
    private let ring: KeyRing
    private let verified = Mutex(VerifiedTokens())

    init(_ configuration: TokenConfiguration, _ ring: KeyRing) {
        self.configuration = configuration
        self.ring = ring
    }

    /// - Parameter generation: the account's token generation when its password was checked.
    func sign(_ userID: ObjectId, session: ObjectId, generation: Int64 = 0, now: Date) async throws -> AccessToken {
        let issued = Int64(now.timeIntervalSince1970)
        let latest = TokenConfiguration.validTimes.upperBound
        let expires = issued + min(configuration.lifetimeSeconds, latest - min(issued, latest))
        let (id, keys) = try await ring.signer()
        let token = try await keys.sign(
            TokenClaims(
                iss: configuration.issuer, aud: configuration.audience, sub: userID.stringValue, iat: issued,
                exp: expires, gen: generation, sid: session.stringValue),
            kid: JWKIdentifier(string: id))
        return AccessToken(
            token: token, userID: userID, expiresAt: Date(timeIntervalSince1970: TimeInterval(expires)))
    }

    /// The content of a token: its user, their login session, and the account's generation when it was made.
    struct Content: Hashable, Sendable {
        let userID: ObjectId
        let sessionID: ObjectId
        let generation: Int64
    }

    /// Checks everything about a token except whether it was revoked.
    /// - Throws: ``AuthenticationError``, or the database's error.
    func verify(_ token: String, now: Date) async throws -> Content {
        guard token.utf8.count <= Self.maximumTokenByteCount else {
            throw AuthenticationError.invalidToken(reason: "It is longer than \(Self.maximumTokenByteCount) bytes.")
        }
        let hash = Array(token.utf8).sha256
        if let known = verified.withLock({ $0.entry(hash) }),
            let keys = try await ring.verifying(known.keyID), keys === known.keys
        {
            return try check(known.claims, now: now)
        }
        // The key determines the algorithm, whatever the token says: never 'none', and never a public key as a shared
        // secret.
        guard let header = TokenHeader(of: token), header.alg == SigningKey.algorithm, let id = header.kid else {
            throw AuthenticationError.invalidToken(reason: "It isn't a JSON Web Token from this server.")
        }
        guard let keys = try await ring.verifying(id) else {
            throw AuthenticationError.invalidToken(reason: "Its key is unknown or retired.")
        }
        let claims = try await claims(token, keys)
        let content = try check(claims, now: now)
        verified.withLock {
            $0.insert(
                VerifiedTokens.Entry(keyID: id, keys: keys, claims: claims), hash, now: Int64(now.timeIntervalSince1970)
            )
        }
        return content
    }

    private func claims(_ token: String, _ keys: JWTKeyCollection) async throws(AuthenticationError) -> TokenClaims {
        do {
            return try await keys.verify(token, as: TokenClaims.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw .invalidToken(reason: "Its signature is not this server's.")
        } catch {
            throw .invalidToken(reason: "It isn't a JSON Web Token from this server.")
        }
    }

    /// Checks the claims of a token whose signature is valid.
    private func check(_ claims: TokenClaims, now: Date) throws(AuthenticationError) -> Content {
        guard claims.iss == configuration.issuer, claims.aud == configuration.audience else {
            throw .invalidToken(reason: "It was issued by or for somebody else.")
        }
        // Before any arithmetic: an overflow would crash the process.
        for (name, time) in [("exp", claims.exp), ("iat", claims.iat), ("nbf", claims.nbf ?? 0)] {
            guard TokenConfiguration.validTimes.contains(time) else {
                throw .invalidToken(reason: "Its time '\(name)' is out of range.")
            }
        }
        let now = Int64(now.timeIntervalSince1970)
        guard now < claims.exp + TokenConfiguration.clockToleranceSeconds else {
            throw .expiredToken(expiredAt: claims.exp)
        }
        guard claims.iat <= now + TokenConfiguration.clockToleranceSeconds else {
            throw .invalidToken(reason: "It was issued in the future.")
        }
        guard (claims.nbf ?? 0) <= now + TokenConfiguration.clockToleranceSeconds else {
            throw .invalidToken(reason: "It is not valid yet.")
        }
        guard let userID = try? ObjectId(string: claims.sub) else {
            throw .invalidToken(
                reason:
                    "It doesn't name a user.")
        }
        guard let sessionID = claims.sid.flatMap({ try? ObjectId(string: $0) }) else {
            throw .invalidToken(reason: "It doesn't belong to a login session.")
        }
        return Content(userID: userID, sessionID: sessionID, generation: claims.gen ?? 0)
    }
}
