/// Something about the source that its owner should know.
public struct Finding: Sendable, Hashable {
    public enum Kind: String, Sendable {
        /// Rewritten, or right as it is; but look at it.
        case note
        /// Left as it is, and to be done by hand.
        case warning
    }

    public let path: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1, in Unicode scalars.
    public let column: Int
    public let kind: Kind
    /// What is there and why that matters.
    public let message: String
    /// What to do or write.
    public let advice: String
}

extension Finding: CustomStringConvertible {
    /// As compilers write it: `Dog.swift:3:5: warning: …`.
    public var description: String { "\(path):\(line):\(column): \(kind.rawValue): \(message) \(advice)" }
}
