public import TomboloModel

/// A type-erased collection: results, a list or linking objects.
public struct AnyRealmCollection<Element: RealmCollectionValue>: RealmCollection {
    let base: any RealmCollection<Element>

    /// Wraps a collection.
    public init(_ base: some RealmCollection<Element>) { self.base = base }

    public var startIndex: Int { 0 }
    public var endIndex: Int { base.count }
    public subscript(position: Int) -> Element { base[position] }
    public func makeIterator() -> AnyIterator<Element> {
        func iterator(_ base: some RealmCollection<Element>) -> AnyIterator<Element> {
            AnyIterator(base.makeIterator())
        }
        return iterator(base)
    }

    public var realm: Realm? { base.realm }
    public var isInvalidated: Bool { base.isInvalidated }
    public var _results: Results<Element>? { base._results }
    public func index(of element: Element) -> Int? { base.index(of: element) }
    public var description: String { base.description }

    public func _observe(
        _ keyPaths: [[String]]?, in place: ObservationPlace?,
        _ block: @escaping (RealmCollectionChange<AnyRealmCollection<Element>>) -> Void
    ) -> NotificationToken {
        func observe(_ base: some RealmCollection<Element>) -> NotificationToken {
            base._observe(keyPaths, in: place) { block($0.map { AnyRealmCollection($0) }) }
        }
        return observe(base)
    }

    public static func == (left: Self, right: Self) -> Bool {
        func isEqual<Base: RealmCollection>(_ base: Base) -> Bool { right.base as? Base == base }
        return isEqual(left.base)
    }
}
