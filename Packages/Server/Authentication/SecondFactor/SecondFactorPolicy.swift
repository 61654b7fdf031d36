public import TomboloRules

/// Of whom a server takes a second factor: a code of an authenticator app besides the password.
public enum SecondFactorPolicy: String, CaseIterable, Sendable {
    /// The environment variable that chooses it.
    public static let variable = "TOMBOLO_SECOND_FACTOR"

    /// Of nobody: for gateways, whose devices have no way to give one.
    case ignored
    /// Of those who have set one up.
    case optional
    /// Also of everybody with a role that counts everywhere, who must set one up.
    case everywhere
    /// Of everybody, who must set one up.
    case everybody

    /// Whether it must be set up.
    public func requires(_ subject: Subject) -> Bool {
        switch self {
        case .ignored, .optional: false
        case .everywhere: subject.grants.contains { $0.scope == nil }
        case .everybody: true
        }
    }
}
