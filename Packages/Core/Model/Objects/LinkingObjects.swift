/// The objects that link to an object through one of their properties, which is a link or a list. The collection is
/// live and read-only: it changes when that property changes.
///
///     class Dog: Object {
///         @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
///     }
///
/// Empty for an unmanaged object. An object that links several times through a list appears once for each link. As in Realm,
/// embedded classes may declare such properties, even for embedded classes, but reading them there stops the program.
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue> {
    /// The store's side, nil while unmanaged. For stores only.
    package let storage: (any LinkingStorage)?
    private let origin: String?

    package init(storage: (any LinkingStorage)?) {
        self.storage = storage
        origin = nil
    }

    private init(origin: String?) {
        storage = nil
        self.origin = origin
    }
}

extension LinkingObjects: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storage?.count ?? 0 }

    /// Iterates over the objects that linked here when the loop began.
    public func makeIterator() -> AnyIterator<Element> {
        guard let objects = storage?.snapshot() else { return AnyIterator { nil } }
        return AnyIterator { objects.next() as? Element }
    }

    public subscript(position: Int) -> Element {
        if !indices.contains(position) {
            programError("Index \(position) is out of bounds (must be less than \(count)).")
        }
        guard let object = storage?.object(at: position) as? Element else {
            programError("An object that links to this one isn't of type \(Element.self).")
        }
        return object
    }
}

/// Two collections are equal if they belong to the same object and property.
extension LinkingObjects: Equatable {
    public static func == (left: LinkingObjects<Element>, right: LinkingObjects<Element>) -> Bool {
        switch (left.storage, right.storage) {
        case (let a?, let b?): a.isSameOrigin(as: b)
        case (nil, nil): left.origin == right.origin
        case (_?, nil), (nil, _?): false
        }
    }
}

extension LinkingObjects: Persistable {
    public typealias PersistedType = LinkingObjects<Element>
    public static var _propertyType: PropertyType { .linkingObjects(String(describing: Element.self)) }
    public static var _targetClass: ObjectBase.Type? { Element.self }
    public static func _defaultValue() -> LinkingObjects<Element> { LinkingObjects(origin: nil) }
    public var _tomboloValue: Value { .null }
    public static func _from(_ value: Value) -> LinkingObjects<Element> { _defaultValue() }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> LinkingObjects<Element> {
        LinkingObjects(storage: accessor.linkingStorage(ofProperty: property))
    }
    public static func _write(
        _ newValue: LinkingObjects<Element>, _ accessor: any ObjectAccessor, _ property: Int
    ) {
        programError("LinkingObjects cannot be set: change the property they come from.")
    }
}

/// Limits `@Persisted(originProperty:)` to ``LinkingObjects``.
public protocol LinkingObjectsProperty: Persistable {
    static func _linked(from originProperty: String) -> Self
    var _originProperty: String? { get }
}

extension LinkingObjects: LinkingObjectsProperty {
    public static func _linked(from originProperty: String) -> LinkingObjects<Element> {
        LinkingObjects(origin: originProperty)
    }
    public var _originProperty: String? { origin }
}
