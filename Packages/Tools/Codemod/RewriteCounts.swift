/// How much was rewritten.
public struct RewriteCounts: Sendable, Hashable {
    /// Model classes that were found, whether or not they changed.
    public internal(set) var models = 0
    public internal(set) var properties = 0
    public internal(set) var enumerations = 0
    /// `.value`, casts, initialisers, imports, attributes, quotes.
    public internal(set) var others = 0

    public init() {}

    public static func + (left: RewriteCounts, right: RewriteCounts) -> RewriteCounts {
        var sum = left
        sum.models += right.models
        sum.properties += right.properties
        sum.enumerations += right.enumerations
        sum.others += right.others
        return sum
    }
}
