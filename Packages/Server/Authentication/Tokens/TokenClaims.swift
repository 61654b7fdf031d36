import JWTKit

/// What an access token says (RFC 7519, section 4.1). Times are seconds since 1970.
struct TokenClaims: JWTPayload {
    let iss: String
    let aud: String
    /// The user's id, 24 hexadecimal digits.
    let sub: String
    let iat: Int64
    let exp: Int64
    /// Not before this time; our own tokens have none.
    var nbf: Int64?
    /// The account's token generation when the token was made; tokens from before there were any have none.
    var gen: Int64?
    /// The id of the login session, 24 hexadecimal digits; tokens from before there were any have none.
    var sid: String?

    /// The signature only: the claims are checked against an injected time by ``TokenSigner``.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}
