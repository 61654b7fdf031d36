/// What a route does with the access token.
enum TokenNeed: Sendable {
    /// The token is ignored.
    case ignored
    /// Without a token the caller is anonymous, and the rules decide whether that is enough.
    case optional
    case required
}
