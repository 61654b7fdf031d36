/// The base class of model classes that have a table.
///
///     class Listing: Object {
///         @Persisted(primaryKey: true) var _id: ObjectId
///         @Persisted var location: String
///     }
///
/// A class may inherit from another. It then has that class's properties, but its own table.
open class Object: ObjectBase {
    /// The table's name in SQL, or nil for the class's name in snake case.
    open class func tableName() -> String? { nil }

    /// Groups of property names whose values must be unique together among objects that aren't in the trash.
    open class func uniqueProperties() -> [[String]] { [] }

    /// Whether deleting an object on a device or through the admin server moves it into the trash.
    open class func isTrashable() -> Bool { false }

    /// The name of the primary key, if no property is declared with `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// Whether a Realm whose configuration lists no classes includes this class. A Realm that lists the class always has it.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }
}
