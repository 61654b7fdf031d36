/// How somebody proves who they are.
public enum LoginCredentials: Sendable {
    case emailPassword(email: String, password: String)
    /// No particular user: each login makes an account.
    case anonymous
    /// A token from the provider's outside issuer.
    case token(provider: String, token: String)
    case apiKey(String)
    /// The payload for the custom function, as the text of a JSON object.
    case function(payload: String)

    /// The provider that checks them.
    var provider: String {
        switch self {
        case .emailPassword: Provider.emailPassword
        case .anonymous: Provider.anonymous
        case .token(let provider, _): provider
        case .apiKey: Provider.apiKey
        case .function: Provider.function
        }
    }
}

extension LoginCredentials: CustomStringConvertible, CustomReflectable {
    /// Without the secret: it must not end up in logs.
    public var description: String { "<credentials for \(provider)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
