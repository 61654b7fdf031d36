/// How a user proves who they are. Each kind belongs to a provider that must be enabled on the server.
public enum Credentials: Sendable {
    /// An e-mail address and password.
    case emailPassword(email: String, password: String)
    /// A new user without a name, or the anonymous user who is already logged in.
    case anonymous
    /// A JWT from an issuer that the server is configured to trust.
    case jwt(token: String)
    /// The ID token of Sign in with Apple.
    case apple(idToken: String)
    /// The ID token of Google Sign-In.
    case googleId(token: String)
    /// A Google authorisation code. The server doesn't support these: use ``googleId(token:)``.
    case google(serverAuthCode: String)
    /// A Facebook access token. The server doesn't support these.
    case facebook(accessToken: String)
    /// The payload that the server passes to your own login function.
    case function(payload: Document)
    /// A key that a user created.
    case userAPIKey(String)
    /// A key that an administrator created.
    case serverAPIKey(String)
    /// An access token that the gateway issued elsewhere. It can't be refreshed: log in again when it expires.
    case accessToken(String)

    /// The provider's name on the wire and in ``UserIdentity/providerType``.
    var provider: String {
        switch self {
        case .emailPassword: "local-userpass"
        case .anonymous: "anon-user"
        case .jwt, .accessToken: "custom-token"
        case .apple: "oauth2-apple"
        case .google, .googleId: "oauth2-google"
        case .facebook: "oauth2-facebook"
        case .function: "custom-function"
        case .userAPIKey, .serverAPIKey: "api-key"
        }
    }

    /// The body of a login.
    var body: [String: AnyBSON] {
        var body: [String: AnyBSON] = ["provider": .string(provider)]
        switch self {
        case .emailPassword(let email, let password):
            body["email"] = .string(email)
            body["password"] = .string(password)
        case .anonymous: break
        case .jwt(let token), .apple(let token), .googleId(let token), .google(let token), .facebook(let token),
            .accessToken(let token):
            body["token"] = .string(token)
        case .function(let payload): body["payload"] = .document(payload)
        case .userAPIKey(let key), .serverAPIKey(let key): body["key"] = .string(key)
        }
        return body
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// The kind of credentials, without the secret.
    public var description: String { "\(provider) credentials" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
