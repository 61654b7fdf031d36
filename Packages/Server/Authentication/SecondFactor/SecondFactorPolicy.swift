public import TomboloRules

/// Which users need a second factor on a server: a code of an authenticator app besides the password.
public enum SecondFactorPolicy: String, CaseIterable, Sendable {
    /// The environment variable for the policy.
    public static let variable = "TOMBOLO_SECOND_FACTOR"

    /// No users: for gateways, since devices have no way to send one.
    case ignored
    /// Users who have set one up.
    case optional
    /// Also all users with a role that applies everywhere, who must set one up.
    case everywhere
    /// All users, who must set one up.
    case everybody

    /// Whether the subject must set one up.
    public func requires(_ subject: Subject) -> Bool {
        switch self {
        case .ignored, .optional: false
        case .everywhere: subject.grants.contains { $0.scope == nil }
        case .everybody: true
        }
    }
}
