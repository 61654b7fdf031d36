/// A problem in a string predicate and its position.
public struct FilterFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was found, what was expected, and what to do.
    public let message: String
    /// The position in Unicode scalars from the start of the text.
    public let position: Int
    /// The text around the position, and a second line that marks it.
    public let excerpt: String

    init(_ message: String, at position: Int, of text: [Unicode.Scalar]) {
        self.message = message
        self.position = position
        let start = Swift.max(0, position - Self.excerptLength / 2)
        let end = Swift.min(text.count, start + Self.excerptLength)
        var line = String.UnicodeScalarView()
        for scalar in text[Swift.min(start, end)..<end] {
            line.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        let prefix = start > 0 ? "…" : ""
        let suffix = end < text.count ? "…" : ""
        let indent = String(repeating: " ", count: prefix.count + position - start)
        excerpt = "    \(prefix)\(String(line))\(suffix)\n    \(indent)^"
    }

    public var description: String { "\(message)\n\(excerpt)" }

    /// The length of an excerpt in Unicode scalars.
    static let excerptLength = 60
}
