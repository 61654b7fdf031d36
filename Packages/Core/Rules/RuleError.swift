/// Rules that do not fit the schema. Each problem names role, class and property.
public struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public var description: String { problems.map { "- \($0)" }.joined(separator: "\n") }
}
