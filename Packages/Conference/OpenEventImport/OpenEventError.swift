/// An export that can't be imported. Nothing was imported.
public struct OpenEventError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many problems a description lists.
    public static let shownProblemCount = 20

    public let problems: [OpenEventProblem]

    public var description: String {
        var lines = problems.prefix(Self.shownProblemCount).map(\.description)
        if problems.count > lines.count { lines.append("… and \(problems.count - lines.count) more.") }
        return lines.joined(separator: "\n")
    }
}
