/// What ``Object`` and ``EmbeddedObject`` have in common. An object is a plain value holder until a Realm manages it.
///
/// Objects are confined to the thread, queue or actor of their Realm and are never `Sendable`.
open class ObjectBase {
    /// The store's side of a managed object; nil while unmanaged. Stores only.
    ///
    /// Every property of a managed object begins by reading it. Nobody changes it while it is read: it is set where an
    /// object becomes managed, and no code of others runs meanwhile.
    @exclusivity(unchecked)
    @usableFromInline package final var accessor: (any ObjectAccessor)?

    public required init() {}

    /// Names of properties that get an index, besides those declared with `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Names of properties that are declared with `@Persisted` and yet not stored.
    open class func ignoredProperties() -> [String] { [] }

    /// Column names by property name, where they should differ from the property's name in snake case.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// Names that properties had in earlier versions of the app, newest first, by the name that they have now: a synced
    /// property keeps its values, and versions that know the old name go on using it.
    ///
    ///     override class func previousPropertyNames() -> [String: [String]] { ["price": ["cost"]] }
    open class func previousPropertyNames() -> [String: [String]] { [:] }

    /// Names that the class had in earlier versions of the app, newest first.
    open class func previousClassNames() -> [String] { [] }

    /// The class and its properties, a line for each; linked objects down to a depth of 2, long lists cut.
    open var description: String { ObjectText.text(of: self, depth: 0) }

    /// Managed objects are equal when they are the same object of the same Realm; others only to themselves. `==` asks
    /// this.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let accessor, let others = other.accessor else { return false }
        return accessor.isSameObject(as: others)
    }

    /// The same for equal objects.
    open var hash: Int {
        var hasher = Hasher()
        if let accessor { accessor.hashIdentity(into: &hasher) } else { hasher.combine(ObjectIdentifier(self)) }
        return hasher.finalize()
    }
}

extension ObjectBase: CustomStringConvertible {}

extension ObjectBase {
    /// The name of this object's class in the schema.
    package final var className: String { String(describing: type(of: self)) }
}

extension ObjectBase {
    /// Whether the accessor belongs to this object alone.
    package final var hasOwnAccessor: Bool {
        // What a class-bound existential holds is the reference, then what it conforms by.
        withUnsafeMutablePointer(to: &accessor) { accessor in
            accessor.withMemoryRebound(to: AnyObject?.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}

extension ObjectBase: Hashable {
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isEqual(right) }
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
