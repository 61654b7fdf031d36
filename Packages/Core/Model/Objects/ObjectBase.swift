/// The common base class of ``Object`` and ``EmbeddedObject``. An object only holds values until a Realm manages it.
///
/// Objects are confined to the thread, queue or actor of their Realm and are never `Sendable`.
open class ObjectBase {
    /// The store's side of a managed object; nil while unmanaged. For stores only.
    ///
    /// Every property access of a managed object starts by reading this. It never changes during a read: it's set when
    /// an object becomes managed, and no other code runs meanwhile.
    @exclusivity(unchecked)
    @usableFromInline package final var accessor: (any ObjectAccessor)?

    /// An unmanaged object whose properties have their defaults.
    public required init() {}

    /// Names of indexed properties in addition to those declared with `@Persisted(indexed: true)`.
    open class func indexedProperties() -> [String] { [] }

    /// Names of properties that are declared with `@Persisted` but not stored.
    open class func ignoredProperties() -> [String] { [] }

    /// Names of the `String` properties that contain Markdown. They're stored and sent like any other string. The admin
    /// panel shows them formatted, and on Apple's platforms `AttributedString(markdown:)` reads them.
    ///
    ///     override class func markdownProperties() -> [String] { ["details"] }
    open class func markdownProperties() -> [String] { [] }

    /// The two `Double` properties, optional or not, that form a place, in degrees (WGS 84): north and east are
    /// positive. They're stored and sent like any other numbers. The admin panel shows them on a map and refuses
    /// degrees that don't exist. An object has at most one place, and so does each object embedded in it.
    ///
    ///     override class func placeProperties() -> (latitude: String, longitude: String)? { ("latitude", "longitude") }
    open class func placeProperties() -> (latitude: String, longitude: String)? { nil }

    /// Column names by property name, for columns whose name isn't the property's in snake case.
    open class func propertiesMapping() -> [String: String] { [:] }

    /// Hints for people who enter values, such as a property's unit: a sentence or two, by property name. The admin
    /// panel shows them below the fields, and the API's description includes them.
    ///
    ///     override class func propertyHints() -> [String: String] { ["price": "In cents."] }
    open class func propertyHints() -> [String: String] { [:] }

    /// Names that properties had in earlier versions of the app, newest first, by current name. A renamed synced
    /// property keeps its values, and app versions that know the old name can still use it.
    ///
    ///     override class func previousPropertyNames() -> [String: [String]] { ["price": ["cost"]] }
    open class func previousPropertyNames() -> [String: [String]] { [:] }

    /// Names that the class had in earlier versions of the app, newest first.
    open class func previousClassNames() -> [String] { [] }

    /// The class and its properties, one per line. Linked objects are shown to a depth of 2, and long lists are cut.
    open var description: String { ObjectText.text(of: self, depth: 0) }

    /// Managed objects are equal if they're the same object in the same Realm; an unmanaged object equals only itself.
    /// `==` calls this, so a class may override it.
    open func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ObjectBase else { return false }
        if self === other { return true }
        guard let accessor, let others = other.accessor else { return false }
        return accessor.isSameObject(as: others)
    }

    /// Equal objects have equal hashes. Override together with ``isEqual(_:)``.
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
    /// Whether nothing else holds a reference to the accessor.
    package final var hasOwnAccessor: Bool {
        // A class-bound existential is stored as the reference followed by the witness table.
        withUnsafeMutablePointer(to: &accessor) { accessor in
            accessor.withMemoryRebound(to: AnyObject?.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}

extension ObjectBase: Hashable {
    public static func == (left: ObjectBase, right: ObjectBase) -> Bool { left.isEqual(right) }
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
