/// How access tokens are made and checked. It's the same on all servers of an installation.
public struct TokenConfiguration: Sendable {
    /// The length of HMAC-SHA256's output (RFC 7518, section 3.2).
    public static let minimumSecretByteCount = 32
    public static let defaultIssuer = "tombolo"
    public static let defaultAudience = "tombolo-services"
    /// How long an access token is valid, in seconds. Devices get the next one with their refresh token.
    public static let defaultLifetimeSeconds: Int64 = 30 * 60
    /// How far the servers' clocks may be apart, in seconds.
    public static let clockToleranceSeconds: Int64 = 30
    /// The valid times in a token, in seconds since 1970: up to the end of the year 9999.
    public static let validTimes: ClosedRange<Int64> = 0...253_402_300_799

    let secret: String
    public let issuer: String
    public let audience: String
    public let lifetimeSeconds: Int64

    /// - Throws: ``AuthenticationError/weakSecret(byteCount:)`` for fewer than ``minimumSecretByteCount`` bytes.
    public init(
        secret: String, issuer: String = Self.defaultIssuer, audience: String = Self.defaultAudience,
        lifetimeSeconds: Int64 = Self.defaultLifetimeSeconds
    ) throws(AuthenticationError) {
        guard secret.utf8.count >= Self.minimumSecretByteCount else {
            throw .weakSecret(byteCount: secret.utf8.count)
        }
        self.secret = secret
        self.issuer = issuer
        self.audience = audience
        self.lifetimeSeconds = lifetimeSeconds
    }
}

extension TokenConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "tokens of \(issuer) for \(audience)" }
    public var customMirror: Mirror { Mirror(self, children: ["issuer": issuer, "audience": audience]) }
}
