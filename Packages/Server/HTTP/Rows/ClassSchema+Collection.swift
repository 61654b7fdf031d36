public import TomboloModel

extension ClassSchema {
    /// The class in addresses: `Listing` → `listings`.
    public var collectionName: String { Self.collectionName(of: name) }

    /// The same of a class's name, such as one that it had before.
    public static func collectionName(of className: String) -> String { "\(Column.sqlName(for: className))s" }
}
