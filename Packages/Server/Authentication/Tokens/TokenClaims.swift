import JWTKit

/// The claims of an access token (RFC 7519, section 4.1). Times are seconds since 1970.
struct TokenClaims: JWTPayload {
    let iss: String
    let aud: String
    /// The user's id, 24 hexadecimal digits.
    let sub: String
    let iat: Int64
    let exp: Int64
    /// Not valid before this time; our own tokens don't have it.
    var nbf: Int64?
    /// The account's token generation when the token was made. Tokens from before generations existed have none.
    var gen: Int64?
    /// The id of the login session, 24 hexadecimal digits. Tokens from before login sessions existed have none.
    var sid: String?

    /// Accepts all claims: ``TokenSigner`` checks them against an injected time. The signature is checked elsewhere.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}
