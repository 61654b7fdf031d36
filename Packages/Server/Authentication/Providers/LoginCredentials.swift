/// How somebody proves who they are.
public enum LoginCredentials: Sendable {
    case emailPassword(email: String, password: String)
    /// Nobody in particular: each login makes an account.
    case anonymous
    /// A token of the outside issuer that a provider is about.
    case token(provider: String, token: String)
    case apiKey(String)
    /// What the custom function gets, as the text of a JSON object.
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
