/// The rules of a server process as they are at the moment, on the classes as they are.
///
/// Positions of classes and columns are those of one value of ``current``: take it once for all that belongs together,
/// such as a row that is read and the decision about it.
public struct LiveRules: Sendable {
    private let newest: @Sendable () -> Rules

    /// - Parameter newest: the rules that count now.
    public init(newest: @escaping @Sendable () -> Rules) { self.newest = newest }

    /// Rules that never change.
    public init(_ rules: Rules) { self.init { rules } }

    /// The rules that count now, for a decision in several steps.
    public var current: Rules { newest() }
}
