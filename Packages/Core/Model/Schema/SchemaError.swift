/// A set of model classes that can't become tables. Each problem names the class and property.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String {
        problems.count == 1 ? problems[0] : problems.map { "- \($0)" }.joined(separator: "\n")
    }
}
