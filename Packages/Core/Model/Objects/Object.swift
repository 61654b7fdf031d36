/// The base class of model classes that have a table.
///
///     class Listing: Object {
///         @Persisted(primaryKey: true) var _id: ObjectId
///         @Persisted var location: String
///     }
///
/// A class may inherit from another: it has that class's properties and its own table.
open class Object: ObjectBase {
    /// The table's name in SQL, or nil for the class's name in snake case.
    open class func tableName() -> String? { nil }

    /// Groups of property names that must be unique together among objects that are not in the trash.
    open class func uniqueProperties() -> [[String]] { [] }

    /// Whether deleting an object on a device or through the admin server moves it into the trash.
    open class func isTrashable() -> Bool { false }

    /// The name of the primary key, if no property is declared with `@Persisted(primaryKey: true)`.
    open class func primaryKey() -> String? { nil }

    /// Whether a Realm whose configuration lists no classes includes this class. Realms that list it always have it.
    open class func shouldIncludeInDefaultSchema() -> Bool { true }
}
