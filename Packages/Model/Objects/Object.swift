/// The base class of every model class. An object is a plain value holder until a Realm manages it.
///
/// Objects are confined to the thread, queue or actor of their Realm and are never `Sendable`.
///
///     class Listing: Object {
///         @Persisted(primaryKey: true) var _id: ObjectId
///         @Persisted var location: String
///     }
open class Object {
    /// The store's side of a managed object; nil while unmanaged. Stores only.
    package final var accessor: (any ObjectAccessor)?

    public required init() {}

    /// The table's name in SQL, where it should differ from the class's name in snake case.
    open class func tableName() -> String? { nil }

    /// Groups of property names that must be unique together among objects that are not in the trash.
    open class func uniqueProperties() -> [[String]] { [] }

    /// Whether deleting an object on a device or through the admin server moves it into the trash.
    open class func isTrashable() -> Bool { false }

    /// Names of properties that get an index, besides those declared with `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }
}

extension Object {
    /// The name of this object's class in the schema.
    package final var className: String { String(describing: type(of: self)) }
}

extension Object: Equatable {
    /// Managed objects are equal when they are the same object of the same Realm; others only to themselves.
    public static func == (left: Object, right: Object) -> Bool {
        if left === right { return true }
        guard let a = left.accessor, let b = right.accessor else { return false }
        return a === b
    }
}

extension Object: Hashable {
    public func hash(into hasher: inout Hasher) {
        if let accessor { hasher.combine(ObjectIdentifier(accessor)) } else { hasher.combine(ObjectIdentifier(self)) }
    }
}
