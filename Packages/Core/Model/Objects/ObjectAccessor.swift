/// What a store attaches to a managed object: every property read and write goes through it.
///
/// A store's accessor is confined to the thread, queue or actor of its Realm, as the object is. Columns are positions
/// in the ``ClassSchema/columns`` of the object's own class, also for an embedded object; properties are positions in
/// its layout.
public protocol ObjectAccessor: AnyObject {
    /// The value of a column.
    func value(at column: Int) -> Value
    /// The same for columns of one kind, which read faster: integers, booleans (0 and 1) and dates (microseconds);
    /// doubles; text. Nil for nil.
    func integer(at column: Int) -> Int64?
    func double(at column: Int) -> Double?
    func text(at column: Int) -> String?
    /// Sets a column. Traps outside a write transaction, with a message that names the property.
    func setValue(_ value: Value, at column: Int)
    /// The object that a link column points to, or nil where it is not (yet) here.
    func linkedObject(at column: Int) -> Object?
    /// Points a link column at an object, adding it to the Realm first where it is unmanaged.
    func setLinkedObject(_ object: Object?, at column: Int)
    /// The embedded object whose presence column this is.
    func embeddedObject(at column: Int) -> EmbeddedObject?
    /// Replaces the embedded object whose presence column this is; the one before is deleted.
    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int)
    /// The storage behind a list property.
    func listStorage(ofProperty property: Int) -> any ListStorage
    /// The storage behind a LinkingObjects property.
    func linkingStorage(ofProperty property: Int) -> any LinkingStorage
    /// False once the object was deleted or its Realm was closed.
    var isValid: Bool { get }
    /// What links hold to refer to the object: its primary key, or its rowid; nil for an embedded object.
    var linkKey: Value? { get }
    /// Whether another accessor stands for the same object of the same Realm.
    func isSameObject(as other: any ObjectAccessor) -> Bool
    /// The same for accessors of the same object.
    func hashIdentity(into hasher: inout Hasher)
}

extension ObjectAccessor {
    public func integer(at column: Int) -> Int64? {
        switch value(at: column) {
        case .int(let number), .date(let number): number
        case .bool(let flag): flag ? 1 : 0
        default: nil
        }
    }
    public func double(at column: Int) -> Double? {
        if case .double(let number) = value(at: column) { number } else { nil }
    }
    public func text(at column: Int) -> String? {
        if case .string(let text) = value(at: column) { text } else { nil }
    }
    public var linkKey: Value? { nil }
    public func isSameObject(as other: any ObjectAccessor) -> Bool { self === other }
    public func hashIdentity(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
