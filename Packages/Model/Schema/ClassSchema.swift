/// The shape of one class, and with it of its table: derived from the model class and from nothing else.
public struct ClassSchema: Hashable, Sendable {
    /// The Swift name of the class, or `Class.property` for the elements of a list.
    public let name: String
    /// The table's name in SQL, in SQLite and PostgreSQL alike.
    public let table: String
    /// Scalars and links, in the order of the class's properties.
    public let columns: [Column]
    /// The list properties of the class, in order. Each has an element class of its own in the ``Schema``.
    public let lists: [ListProperty]
    /// The position of the primary key in ``columns``; nil for a local class without one.
    public let primaryKeyIndex: Int?
    /// Groups of columns that must be unique together among live rows.
    public let uniqueColumns: [[Int]]
    /// Whether deleting an object moves it into the trash on the server.
    public let isTrashable: Bool
    /// For an element class: the class whose list it belongs to.
    public let owner: ElementOwner?

    package let columnIndexByName: [String: Int]

    public init(
        name: String, table: String? = nil, columns: [Column], lists: [ListProperty] = [],
        uniqueProperties: [[String]] = [], isTrashable: Bool = false, owner: ElementOwner? = nil
    ) {
        self.name = name
        self.table = table ?? Column.sqlName(for: name)
        self.columns = columns
        self.lists = lists
        self.primaryKeyIndex = columns.firstIndex(where: \.isPrimaryKey)
        self.columnIndexByName = Dictionary(
            columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let indexes = columnIndexByName
        self.uniqueColumns = uniqueProperties.map { $0.compactMap { indexes[$0] } }
        self.isTrashable = isTrashable
        self.owner = owner
    }

    /// The position of the column with this Swift name.
    public func columnIndex(_ name: String) -> Int? { columnIndexByName[name] }

    /// The column of the primary key, for a class that has one.
    public var primaryKey: Column? { primaryKeyIndex.map { columns[$0] } }

    /// A row in column order, checked against every column.
    public func validate(_ row: Row) throws(ValueError) {
        for (column, value) in zip(columns, row.values) { try column.validate(value) }
    }
}

/// A list of links: its element class is named `Class.property`, its child table `class_property`.
public struct ListProperty: Hashable, Sendable {
    public let name: String
    /// The class that the elements link to.
    public let target: String

    public init(name: String, target: String) {
        self.name = name
        self.target = target
    }
}

/// Which list an element class serves.
public struct ElementOwner: Hashable, Sendable {
    /// The name of the class that has the list.
    public let className: String
    /// The name of the list property.
    public let property: String

    public init(className: String, property: String) {
        self.className = className
        self.property = property
    }
}

/// The columns of every element class, in this order.
public enum ElementColumn {
    /// ObjectId, made on the device: the element's identity, which merging works on.
    public static let id = 0
    /// The primary key of the object that has the list.
    public static let owner = 1
    /// Position among the owner's elements: text, by bytes; equal ranks are ordered by id.
    public static let rank = 2
    /// The primary key of the object in the list.
    public static let target = 3
}
