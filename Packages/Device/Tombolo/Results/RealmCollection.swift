public import TomboloModel

/// What results, lists and linking objects have in common. As in Realm `map`, `filter { }` and the like are lazy: they
/// look at an element when it is asked for.
public protocol RealmCollection<Element>: RandomAccessCollection, LazyCollectionProtocol, CustomStringConvertible,
    ThreadConfined, Equatable
where Index == Int, Element: RealmCollectionValue {
    /// The Realm that the elements are in; nil for an unmanaged list.
    var realm: Realm? { get }
    /// Whether the object that has the list was deleted, or the Realm invalidated.
    var isInvalidated: Bool { get }
    /// The same elements as results, which can be filtered and sorted; nil while unmanaged. The store's own.
    var _results: Results<Element>? { get }
    /// The position of the first element that is equal to this one; nil where there is none.
    func index(of element: Element) -> Int?
    /// What ``observe(keyPaths:on:_:)`` does. The store's own.
    func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?, _ block: @escaping (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
}

extension RealmCollection {
    /// The elements at these positions.
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
                "A list inside an embedded object is kept in one column, so that it cannot be filtered or sorted as "
                    + "results: use Array(list) and Swift's filter, sorted, min or reduce.")
        default: return nil
        }
    }
}

extension LinkingObjects: RealmCollection {
    /// The Realm that the objects are in; nil while the object that they link to is unmanaged.
    public var realm: Realm? { (storage as? LinkingRows).map { Realm(core: $0.row.core) } }

    /// Whether the object that they link to was deleted.
    public var isInvalidated: Bool { (storage as? LinkingRows).map { !$0.row.isValid } ?? false }

    public var _results: Results<Element>? {
        (storage as? LinkingRows).map { Results(core: $0.row.core, query: $0.query) }
    }

    public func index(of object: Element) -> Int? { firstIndex(of: object) }
}
