/// Rules that can't be used. Each problem names file and line, class, role and field, and says what to do.
public struct RuleError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String { problems.map { "- \($0)" }.joined(separator: "\n") }
}
