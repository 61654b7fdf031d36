public import TomboloRules

/// Why a matrix box couldn't be changed.
public enum PermissionChangeError: Error, Sendable {
    case notPermitted(Decision.Denial)
    /// The app's rules have a newer version by now.
    case stale(newest: Int64)
    /// There is no such box, or it can't be changed like this.
    case notPossible(String)
    /// Somebody has the role that is to be removed.
    case held(String)
    /// The changed rules would have mistakes.
    case mistakes([String])
}
