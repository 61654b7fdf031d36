public import TomboloModel

/// The small numbers by which the changelog names classes and columns. Given once, never reused: they outlive the
/// order of classes in a ``Schema`` and the names of its properties.
public struct SchemaIdentifiers: Hashable, Sendable {
    /// Stands for the trash columns in the changelog's column lists.
    public static let trashColumn: Int16 = 0
    /// Stands for the reason of an object in the trash in the changelog's column lists, for the audit log alone.
    public static let trashReasonColumn: Int16 = -1
    /// Stands for the progress of clients in the changelog's class column.
    public static let progressClass: Int16 = 0

    /// Stands for accounts in the changelog's class column: a change of who may log in, or of what is known of them.
    public static let accountClass: Int16 = -1
    /// Stands for rows of `tombolo.document` in the changelog's class column: another model, or other rules.
    public static let documentClass: Int16 = -2
    /// Stands for who made the changes of a transaction in the changelog's class column; its key is the transaction's number.
    public static let authorClass: Int16 = -3
    // ``BulkRow`` uses the numbers below -100.

    /// By class name.
    public private(set) var classes: [String: Int16]
    /// By class name, then by property name.
    public private(set) var columns: [String: [String: Int16]]
    /// The table of each class in the database, by class name.
    public private(set) var tables: [String: String]
    /// The SQL name of each column in the database, by class name, then by property name. Databases of earlier versions
    /// lack it until they are migrated.
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

    /// These numbers, and new ones for what a schema has besides. What a schema says was renamed keeps its number, and
    /// has it under the new name.
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

    /// The name under which a renamed class has its number; nil for one that has it under its own name, or has none.
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
