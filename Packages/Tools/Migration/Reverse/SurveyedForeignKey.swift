/// A foreign key of a ``SurveyedTable``.
public struct SurveyedForeignKey: Hashable, Sendable {
    /// What happens when the referenced row is deleted.
    public enum Action: Hashable, Sendable {
        case refuse, cascade, setNull, setDefault

        /// - Parameter code: the value of `pg_constraint.confdeltype`.
        init(_ code: String) {
            self =
                switch code {
                case "c": .cascade
                case "n": .setNull
                case "d": .setDefault
                default: .refuse
                }
        }
    }

    public let columns: [String]
    public let table: String
    public let referencedColumns: [String]
    public let isInSameSchema: Bool
    public let action: Action

    public init(
        columns: [String], table: String, referencedColumns: [String], isInSameSchema: Bool = true,
        action: Action = .refuse
    ) {
        self.columns = columns
        self.table = table
        self.referencedColumns = referencedColumns
        self.isInSameSchema = isInSameSchema
        self.action = action
    }
}
