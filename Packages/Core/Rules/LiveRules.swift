/// A server process's current rules, based on its current classes.
///
/// Positions of classes and columns are valid for one value of ``current`` only. Take it once for everything that
/// belongs together, such as reading a row and deciding about it.
public struct LiveRules: Sendable {
    private let newest: @Sendable () -> Rules

    /// - Parameter newest: returns the rules that apply now.
    public init(newest: @escaping @Sendable () -> Rules) { self.newest = newest }

    /// Rules that never change.
    public init(_ rules: Rules) { self.init { rules } }

    /// The rules that apply now. Take them once for a decision in several steps.
    public var current: Rules { newest() }
}
