public import TomboloModel

/// The small numbers by which the changelog names classes and columns. Each is assigned once and never reused,
/// whatever happens to the order of classes in a ``Schema`` and the names of its properties.
public struct SchemaIdentifiers: Hashable, Sendable {
    /// In the changelog's column lists: the trash columns.
    public static let trashColumn: Int16 = 0
    /// In the changelog's column lists: why an object is in the trash. Only the audit log uses it.
    public static let trashReasonColumn: Int16 = -1
    /// In the changelog's class column: the progress of clients.
    public static let progressClass: Int16 = 0

    /// In the changelog's class column: accounts. Who may log in changed, or what is known about an account.
    public static let accountClass: Int16 = -1
    /// In the changelog's class column: rows of `tombolo.document`, that is, another model or other rules.
    public static let documentClass: Int16 = -2
    /// In the changelog's class column: who made a transaction's changes. The key is the transaction's number.
    public static let authorClass: Int16 = -3
    // ``BulkRow`` uses the numbers below -100.

    /// By class name.
    public private(set) var classes: [String: Int16]
    /// By class name, then by property name.
    public private(set) var columns: [String: [String: Int16]]
    /// The table of each class in the database, by class name.
    public private(set) var tables: [String: String]
    /// The SQL name of each column in the database, by class name and then property name. Databases of earlier
    /// versions have none until they are migrated.
    public private(set) var sqlNames: [String: [String: String]]

    public init(
        classes: [String: Int16] = [:], columns: [String: [String: Int16]] = [:], tables: [String: String] = [:],
        sqlNames: [String: [String: String]] = [:]
    ) {
        self.classes = classes
        self.columns = columns
        self.tables = tables
        self.sqlNames = sqlNames
    }

    /// These numbers, plus new ones for everything that a schema adds. A renamed class or property keeps its number
    /// under the new name.
    public func covering(_ schema: Schema) -> SchemaIdentifiers {
        var result = self
        var nextClass = (classes.values.max() ?? 0) + 1
        for item in schema.classes {
            if let former = formerName(of: item) { result.rename(former, to: item.name) }
            if result.classes[item.name] == nil {
                result.classes[item.name] = nextClass
                nextClass += 1
            }
            var known = result.columns[item.name] ?? [:]
            for column in item.columns {
                guard let former = Self.formerName(column.name, column.previousNames, known) else { continue }
                known[column.name] = known.removeValue(forKey: former)
            }
            var nextColumn = (known.values.max() ?? 0) + 1
            for column in item.columns where known[column.name] == nil {
                known[column.name] = nextColumn
                nextColumn += 1
            }
            result.columns[item.name] = known
        }
        return result
    }

    /// The earlier name under which a renamed class has its number, or nil if it has one under its current name or
    /// none at all.
    func formerName(of item: ClassSchema) -> String? { Self.formerName(item.name, item.previousNames, classes) }

    static func formerName(_ name: String, _ previousNames: [String], _ known: [String: Int16]) -> String? {
        known[name] == nil ? previousNames.first { known[$0] != nil } : nil
    }

    private mutating func rename(_ former: String, to name: String) {
        classes[name] = classes.removeValue(forKey: former)
        columns[name] = columns.removeValue(forKey: former)
        tables[name] = tables.removeValue(forKey: former)
        sqlNames[name] = sqlNames.removeValue(forKey: former)
    }
}
