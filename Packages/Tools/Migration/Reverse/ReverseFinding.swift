/// Something that people should know about a table or column before devices synchronise it.
public struct ReverseFinding: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Has to be changed before anything can be synchronised.
        case required
        /// The table or column isn't part of the models, and stays as it is.
        case leftOut
        /// A change that adopting the table makes.
        case change
        /// Works as it is, but is worth knowing.
        case note
    }

    public let kind: Kind
    public let table: String
    /// Nil for the table as a whole.
    public let column: String?
    /// Complete sentences.
    public let message: String
    /// SQL that makes the table fit, if possible.
    public let fix: String?

    public init(kind: Kind, table: String, column: String? = nil, message: String, fix: String? = nil) {
        self.kind = kind
        self.table = table
        self.column = column
        self.message = message
        self.fix = fix
    }

    public var description: String {
        let place = column.map { "\(table).\($0)" } ?? table
        let label =
            switch kind {
            case .required: "required"
            case .leftOut: "left out"
            case .change: "change"
            case .note: "note"
            }
        return "\(place): \(label): \(message)\(fix.map { "\n    \($0)" } ?? "")"
    }
}
