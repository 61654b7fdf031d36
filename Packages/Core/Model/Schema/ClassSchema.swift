/// The shape of one class and its table, derived solely from the model class.
public struct ClassSchema: Hashable, Sendable {
    /// The Swift name of the class, or `Class.property` for the elements of a list.
    public let name: String
    /// The table's name in both SQLite and PostgreSQL.
    public let table: String
    /// Scalars, links and the properties of embedded objects, in the order of the class's properties. An embedded
    /// object is a column that says whether the object is present, followed by the columns of its properties
    /// (`address`, `address.street`).
    public let columns: [Column]
    /// The list properties that have a child table, in order, including those of embedded objects
    /// (`address.residents`). Each has its own element class in the ``Schema``.
    public let lists: [ListProperty]
    /// By property name, the origins of the class's LinkingObjects, which have neither column nor table.
    public let linkingObjects: [String: LinkOrigin]
    /// The names of columns and lists in declaration order; empty if there is no model class.
    public let propertyNames: [String]
    /// The position of the primary key in ``columns``, or nil for a local class without one.
    public let primaryKeyIndex: Int?
    /// Groups of columns that must be unique together among live rows.
    public let uniqueColumns: [[Int]]
    /// Whether deleting an object moves it into the trash on the server.
    public let isTrashable: Bool
    /// For an element class: the class whose list it belongs to.
    public let owner: ElementOwner?
    /// Whether the class is embedded: its objects live in other objects, and it has no table.
    public let isEmbedded: Bool
    /// Earlier names of the class, which older versions of an app still use.
    public let previousNames: [String]
    /// Whether the app's newest version lacks the class. The server keeps the table for older versions.
    public let isRetired: Bool
    /// Mistakes in the declaration, as sentences. A ``Schema`` with such a class is refused.
    public let problems: [String]

    package let columnIndexByName: [String: Int]

    public init(
        name: String, table: String? = nil, columns: [Column], lists: [ListProperty] = [],
        uniqueProperties: [[String]] = [], isTrashable: Bool = false, owner: ElementOwner? = nil,
        isEmbedded: Bool = false, linkingObjects: [String: LinkOrigin] = [:], propertyNames: [String] = [],
        previousNames: [String] = [], isRetired: Bool = false, problems: [String] = []
    ) {
        self.name = name
        self.table = table ?? Column.sqlName(for: name)
        self.columns = columns
        self.lists = lists
        self.primaryKeyIndex = columns.firstIndex(where: \.isPrimaryKey)
        // A current name takes precedence over another property's previous name.
        var positions = Dictionary(
            columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (position, column) in columns.enumerated() {
            for name in column.previousNames where positions[name] == nil { positions[name] = position }
        }
        self.columnIndexByName = positions
        let indexes = columnIndexByName
        self.uniqueColumns = uniqueProperties.map { $0.compactMap { indexes[$0] } }
        self.isTrashable = isTrashable
        self.owner = owner
        self.isEmbedded = isEmbedded
        self.linkingObjects = linkingObjects
        self.propertyNames = propertyNames
        self.previousNames = previousNames
        self.isRetired = isRetired
        self.problems = problems
    }

    /// The position of the column that has this Swift name now or had it before.
    public func columnIndex(_ name: String) -> Int? { columnIndexByName[name] }

    /// The primary key's column, if the class has a primary key.
    public var primaryKey: Column? { primaryKeyIndex.map { columns[$0] } }

    /// Checks a row, in column order, against every column.
    public func validate(_ row: Row) throws(ValueError) {
        for (column, value) in zip(columns, row.values) { try column.validate(value) }
    }

    /// The class with another table name and other column names, given in column order.
    func renamedInSQL(_ table: String, _ columns: [String]) -> ClassSchema {
        ClassSchema(
            name: name, table: table, columns: zip(self.columns, columns).map { $0.renamedInSQL($1) }, lists: lists,
            uniqueProperties: uniqueColumns.map { $0.map { self.columns[$0].name } }, isTrashable: isTrashable,
            owner: owner, isEmbedded: isEmbedded, linkingObjects: linkingObjects, propertyNames: propertyNames,
            previousNames: previousNames, isRetired: isRetired, problems: problems)
    }
}
