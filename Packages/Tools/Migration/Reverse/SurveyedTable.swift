/// A table, or a view, of a ``DatabaseSurvey``.
public struct SurveyedTable: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case table
        /// Also materialised views and foreign tables.
        case view
    }

    public let name: String
    public let kind: Kind
    /// In the table's order.
    public internal(set) var columns: [SurveyedColumn]
    /// The columns of the primary key; empty if there is none.
    public internal(set) var primaryKey: [String]
    /// The name of the primary key's constraint.
    public internal(set) var primaryKeyName: String
    /// Columns that are unique together, besides the primary key.
    public internal(set) var uniqueGroups: [[String]]
    /// Columns with an index of their own.
    public internal(set) var indexedColumns: Set<String>
    public internal(set) var foreignKeys: [SurveyedForeignKey]
    /// The class whose table it is, if it is synchronised already; with a dot for the elements of a list.
    public internal(set) var className: String?
    /// Whether other tables inherit from it, so that its rows are partly theirs. Not so of a partitioned table.
    public internal(set) var hasChildren: Bool
    /// Whether its policies count for its owner too.
    public internal(set) var forcesRowSecurity: Bool

    public init(
        name: String, kind: Kind = .table, columns: [SurveyedColumn] = [], primaryKey: [String] = [],
        primaryKeyName: String? = nil, uniqueGroups: [[String]] = [], indexedColumns: Set<String> = [],
        foreignKeys: [SurveyedForeignKey] = [], className: String? = nil,
        hasChildren: Bool = false, forcesRowSecurity: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.columns = columns
        self.primaryKey = primaryKey
        self.primaryKeyName = primaryKeyName ?? "\(name)_pkey"
        self.uniqueGroups = uniqueGroups
        self.indexedColumns = indexedColumns
        self.foreignKeys = foreignKeys
        self.className = className
        self.hasChildren = hasChildren
        self.forcesRowSecurity = forcesRowSecurity
    }
}
