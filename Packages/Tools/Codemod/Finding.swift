/// Something that the owner of the source should know.
public struct Finding: Sendable, Hashable {
    public enum Kind: String, Sendable {
        /// Was rewritten, or is correct as it is, but should be reviewed.
        case note
        /// Wasn't changed, and has to be fixed by hand.
        case warning
    }

    public let path: String
    /// Counted from 1.
    public let line: Int
    /// Counted from 1 in Unicode scalars.
    public let column: Int
    public let kind: Kind
    /// What was found, and why it matters.
    public let message: String
    /// What to do, or what to write instead.
    public let advice: String
}

extension Finding: CustomStringConvertible {
    /// The format of compilers: `Dog.swift:3:5: warning: …`.
    public var description: String { "\(path):\(line):\(column): \(kind.rawValue): \(message) \(advice)" }
}
