public import TomboloRules

/// Why a box of a matrix wasn't changed.
public enum PermissionChangeError: Error, Sendable {
    case notPermitted(Decision.Denial)
    /// The app's rules have another version by now.
    case stale(newest: Int64)
    /// There is no such box, or it can't be changed like this.
    case notPossible(String)
    /// Somebody has the role that is to go.
    case held(String)
    /// The rules would have mistakes.
    case mistakes([String])
}
