public import TomboloModel

/// A row of a model class, read by property: `row[\.rank]`.
public struct ClassRow<Class: Object>: Sendable {
    let table: ClassTable<Class>
    public let row: Row

    /// The value of a property, as an object of the class would return it.
    public subscript<Content: Persistable>(property: any KeyPath<Class, Content> & Sendable) -> Content {
        ._from(row[table.position(of: property)])
    }

    /// The key of a link's target, or null.
    public subscript<Target: Object>(keyOf link: any KeyPath<Class, Target?> & Sendable) -> Value {
        row[table.position(of: link)]
    }

    /// The object's own key.
    public var key: Value { table.item.primaryKeyIndex.map { row[$0] } ?? .null }
}
