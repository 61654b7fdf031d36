/// What a route does about the access token.
enum TokenNeed: Sendable {
    /// Nobody looks at it.
    case ignored
    /// Without one the caller is anonymous, and the rules permit that something here.
    case optional
    case required
}
