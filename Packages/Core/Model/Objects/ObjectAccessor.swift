/// The store's side of a managed object: every read and write of a property goes through it.
///
/// Like its object, an accessor is confined to the thread, queue or actor of its Realm. Columns are positions in the
/// ``ClassSchema/columns`` of the object's own class, even for an embedded object. Properties are positions in the
/// class's layout.
public protocol ObjectAccessor: AnyObject {
    /// The value of a column.
    func value(at column: Int) -> Value
    /// Faster reads for columns of one kind: integers, Booleans (0 and 1) and dates (microseconds) as integers;
    /// doubles; strings. Nil if the value is nil.
    func integer(at column: Int) -> Int64?
    func double(at column: Int) -> Double?
    func text(at column: Int) -> String?
    /// Sets a column. Outside a write transaction it stops the program with a message that names the property.
    func setValue(_ value: Value, at column: Int)
    /// The object that a link column points to, or nil if it isn't in the Realm (yet).
    func linkedObject(at column: Int) -> Object?
    /// Makes a link column point to an object, first adding an unmanaged object to the Realm.
    func setLinkedObject(_ object: Object?, at column: Int)
    /// The embedded object with this presence column, or nil.
    func embeddedObject(at column: Int) -> EmbeddedObject?
    /// Replaces the embedded object with this presence column; the previous one is deleted.
    func setEmbeddedObject(_ object: EmbeddedObject?, at column: Int)
    /// The storage behind a list property.
    func listStorage(ofProperty property: Int) -> any ListStorage
    /// The storage behind a LinkingObjects property.
    func linkingStorage(ofProperty property: Int) -> any LinkingStorage
    /// Whether the object can still be used: false once it was deleted or its Realm was closed.
    var isValid: Bool { get }
    /// The value that links use to refer to the object: its primary key or rowid. Nil for an embedded object.
    var linkKey: Value? { get }
    /// Whether another accessor belongs to the same object in the same Realm.
    func isSameObject(as other: any ObjectAccessor) -> Bool
    /// Feeds the hasher the same values for all accessors of the same object.
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
