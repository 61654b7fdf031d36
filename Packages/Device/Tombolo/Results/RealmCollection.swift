public import TomboloModel

/// The common protocol of results, lists and linking objects. As in Realm, `map`, `filter { }` and the like are lazy:
/// they read an element when it's needed.
public protocol RealmCollection<Element>: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
    ThreadConfined, Equatable
where Index == Int, Element: RealmCollectionValue {
    /// The elements' Realm, or nil for an unmanaged list.
    var realm: Realm? { get }
    /// Whether the list's object was deleted or the Realm invalidated.
    var isInvalidated: Bool { get }
    /// The same elements as results, which can be filtered and sorted; nil while unmanaged. For the library only.
    var _results: Results<Element>? { get }
    /// The index of the first element equal to this one, or nil.
    func index(of element: Element) -> Int?
    /// Implements ``observe(keyPaths:on:_:)``. For the library only.
    func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmCollection {
    /// The elements at these indexes.
    public func objects(at positions: some Sequence<Int>) -> [Element] { positions.map { self[$0] } }
}

extension Results: RealmCollection {
    public var _results: Results<Element>? { self }
}

extension List: RealmCollection {
    public var _results: Results<Element>? {
        switch storage {
        case let list as ManagedList: return Results(core: list.realmCore, query: list.query)
        case is ArrayList:
            programError(
                "A list inside an embedded object is stored in one column, so it can't be filtered or sorted as "
                    + "results. Use Array(list) and Swift's filter, sorted, min or reduce.")
        default: return nil
        }
    }
}

extension LinkingObjects: RealmCollection {
    /// The objects' Realm, or nil while the object they link to is unmanaged.
    public var realm: Realm? { (storage as? LinkingRows).map { Realm(core: $0.row.core) } }

    /// Whether the object they link to was deleted.
    public var isInvalidated: Bool { (storage as? LinkingRows).map { !$0.row.isValid } ?? false }

    public var _results: Results<Element>? {
        (storage as? LinkingRows).map { Results(core: $0.row.core, query: $0.query) }
    }

    public func index(of object: Element) -> Int? { firstIndex(of: object) }
}
