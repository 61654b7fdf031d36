/// Everything that is wrong with a server's configuration. Each line names its variable.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    public let problems: [String]

    public init(problems: [String]) { self.problems = problems }

    public var description: String {
        (["The configuration is incomplete or wrong:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}
