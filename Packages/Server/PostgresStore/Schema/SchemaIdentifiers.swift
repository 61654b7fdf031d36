public import TomboloModel

/// The small numbers by which the changelog names classes and columns. Given once, never reused: they outlive the
/// order of classes in a ``Schema`` and the names of its properties.
public struct SchemaIdentifiers: Hashable, Sendable {
    /// Stands for the trash columns in the changelog's column lists.
    public static let trashColumn: Int16 = 0
    /// Stands for the progress of clients in the changelog's class column.
    public static let progressClass: Int16 = 0

    /// Stands for accounts in the changelog's class column: a change of who may log in, or of what is known of them.
    public static let accountClass: Int16 = -1
    /// Stands for rows of `tombolo.document` in the changelog's class column: another model, or other rules.
    public static let documentClass: Int16 = -2

    /// By class name.
    public private(set) var classes: [String: Int16]
    /// By class name, then by property name.
    public private(set) var columns: [String: [String: Int16]]

    public init(classes: [String: Int16] = [:], columns: [String: [String: Int16]] = [:]) {
        self.classes = classes
        self.columns = columns
    }

    /// These numbers, and new ones for what a schema has besides.
    public func covering(_ schema: Schema) -> SchemaIdentifiers {
        var result = self
        var nextClass = (classes.values.max() ?? 0) + 1
        for item in schema.classes {
            if result.classes[item.name] == nil {
                result.classes[item.name] = nextClass
                nextClass += 1
            }
            var known = result.columns[item.name] ?? [:]
            var nextColumn = (known.values.max() ?? 0) + 1
            for column in item.columns where known[column.name] == nil {
                known[column.name] = nextColumn
                nextColumn += 1
            }
            result.columns[item.name] = known
        }
        return result
    }
}
