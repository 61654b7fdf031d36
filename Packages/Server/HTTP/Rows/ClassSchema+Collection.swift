public import TomboloModel

extension ClassSchema {
    /// The class's name in addresses: `Listing` → `listings`.
    public var collectionName: String { Self.collectionName(of: name) }

    /// The same for a class name, such as a former one.
    public static func collectionName(of className: String) -> String { "\(Column.sqlName(for: className))s" }
}
