public import TomboloModel

extension ObjectBase {
    var core: RealmCore? {
        switch accessor {
        case let row as ManagedRow: row.core
        case let part as EmbeddedAccessor: part.place.host.core
        default: nil
        }
    }

    /// The Realm that manages the object, or nil while unmanaged.
    public var realm: Realm? { core.map { Realm(core: $0) } }

    /// Whether the object was deleted or its Realm invalidated. Reading a property then stops the program.
    public var isInvalidated: Bool { accessor.map { !$0.isValid } ?? false }

    /// Whether two objects are the same object in the same Realm, or the same unmanaged instance.
    public func isSameObject(as other: ObjectBase?) -> Bool {
        guard let other else { return false }
        if self === other { return true }
        guard let accessor, let others = other.accessor else { return false }
        return accessor.isSameObject(as: others)
    }
}
