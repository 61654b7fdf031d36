/// How a user proves who they are.
public struct Credentials: Sendable {
    enum Kind: Sendable {
        case emailPassword(String, String)
        case jwt(String)
    }

    let kind: Kind

    /// An e-mail address and password, which the gateway checks.
    public static func emailPassword(email: String, password: String) -> Credentials {
        Credentials(kind: .emailPassword(email, password))
    }

    /// A JWT signed with the gateway's key.
    public static func jwt(token: String) -> Credentials { Credentials(kind: .jwt(token)) }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// The kind of credentials, without the secret.
    public var description: String {
        switch kind {
        case .emailPassword(let email, _): "e-mail and password of \(email)"
        case .jwt: "a JWT"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
