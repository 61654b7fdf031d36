/// What a store attaches to a managed object: every property read and write goes through it.
///
/// A store's accessor is confined to the thread, queue or actor of its Realm, as the object is.
public protocol ObjectAccessor: AnyObject {
    /// The value of the column at this position in the class's ``ClassSchema/columns``.
    func value(at column: Int) -> Value
    /// Sets a column. Traps outside a write transaction, with a message that names the property.
    func setValue(_ value: Value, at column: Int)
    /// The object that a link column points to, or nil where it is not (yet) here.
    func linkedObject(at column: Int) -> Object?
    /// Points a link column at an object, adding it to the Realm first where it is unmanaged.
    func setLinkedObject(_ object: Object?, at column: Int)
    /// The storage behind the list at this position in the class's ``ClassSchema/lists``.
    func listStorage(at list: Int) -> any ListStorage
    /// False once the object was deleted or its Realm was closed.
    var isValid: Bool { get }
}

/// The elements of a managed list. Positions are those at the time of the call.
public protocol ListStorage: AnyObject {
    var count: Int { get }
    func object(at position: Int) -> Object
    /// Inserts links; unmanaged objects are added to the Realm first.
    func insert(_ objects: [Object], at position: Int)
    func remove(at position: Int)
    func removeAll()
}
