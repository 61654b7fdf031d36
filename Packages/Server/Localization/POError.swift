/// A problem in a file of translations.
public struct POError: Error, CustomStringConvertible, Sendable {
    /// From 1.
    public let line: Int
    public let reason: String

    init(line: Int, _ reason: String) {
        self.line = line
        self.reason = reason
    }

    public var description: String { "line \(line): \(reason)" }
}
