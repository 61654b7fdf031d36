public import TomboloModel

/// What results and lists have in common.
public protocol RealmCollection<Element>: RandomAccessCollection where Index == Int, Element: RealmCollectionValue {
    /// The Realm that the elements are in; nil for an unmanaged list.
    var realm: Realm? { get }
    /// Whether the object that has the list was deleted, or the Realm invalidated.
    var isInvalidated: Bool { get }
}

extension RealmCollection {
    /// The elements at these positions.
    public func objects(at positions: some Sequence<Int>) -> [Element] { positions.map { self[$0] } }
}

extension RealmCollection where Element: ObjectBase {
    /// A property of every element, by its name.
    public func value(forKey key: String) -> [Any?] { map { $0[key] } }

    /// Sets a property of every element, by its name. In a write transaction.
    public func setValue(_ value: Any?, forKey key: String) {
        // What is set may decide which elements there are.
        for element in Array(self) { element[key] = value }
    }
}

extension Results: RealmCollection {}

extension LinkingObjects: RealmCollection {
    /// The Realm that the objects are in; nil while the object that they link to is unmanaged.
    public var realm: Realm? { (storage as? LinkingRows).map { Realm(core: $0.row.core) } }

    /// Whether the object that they link to was deleted.
    public var isInvalidated: Bool { (storage as? LinkingRows).map { !$0.row.isValid } ?? false }
}
