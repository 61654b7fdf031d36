/// How a user proves who they are.
public struct Credentials: Sendable {
    enum Kind: Sendable {
        case emailPassword(String, String)
        case jwt(String)
    }

    let kind: Kind

    public static func emailPassword(email: String, password: String) -> Credentials {
        Credentials(kind: .emailPassword(email, password))
    }

    /// A token that the gateway's key signed.
    public static func jwt(token: String) -> Credentials { Credentials(kind: .jwt(token)) }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// Without the secret.
    public var description: String {
        switch kind {
        case .emailPassword(let email, _): "e-mail and password of \(email)"
        case .jwt: "a JWT"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
