/// A table, or a view, of a ``DatabaseSurvey``.
public struct SurveyedTable: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case table
        /// Includes materialised views and foreign tables.
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
    /// Groups of columns that are unique together, other than the primary key.
    public internal(set) var uniqueGroups: [[String]]
    /// Columns with an index of their own.
    public internal(set) var indexedColumns: Set<String>
    public internal(set) var foreignKeys: [SurveyedForeignKey]
    /// The class that uses the table, if it is already synchronised. Contains a dot for the elements of a list.
    public internal(set) var className: String?
    /// Whether other tables inherit from it, so that some of its rows are theirs. False for a partitioned table.
    public internal(set) var hasChildren: Bool
    /// Whether its row-level security policies also apply to its owner.
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
