/// Something about a table or a column that somebody should know before devices synchronise it.
public struct ReverseFinding: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// Nothing is synchronised until this is changed.
        case required
        /// The table or column isn't part of the models; it stays as it is.
        case leftOut
        /// What adopting the table changes in it.
        case change
        /// Works as it is, with this to know.
        case note
    }

    public let kind: Kind
    public let table: String
    /// Nil for the table as a whole.
    public let column: String?
    /// Full sentences.
    public let message: String
    /// SQL that makes the table fit, if there is any.
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
