public import TomboloModel
internal import TomboloSQL

/// The objects that a query finds: lazy, and live with the Realm's version. Index loops see every change at once;
/// `for … in` goes over what was found when the loop began, so that objects may be deleted in it.
public struct Results<Element: Object> {
    let content: ResultsContent

    init(core: RealmCore, query: ObjectQuery) { content = ResultsContent(core: core, query: query) }

    /// The Realm that the objects are in.
    public var realm: Realm? { Realm(core: content.core) }

    /// Objects that satisfy a condition: `where { $0.price < 300_000 && $0.room.name == "Hall" }`.
    public func `where`(_ isIncluded: (Query<Element>) -> Query<Bool>) -> Results<Element> {
        filter(Query<Element>.filter(isIncluded))
    }

    /// Objects that satisfy a condition as well.
    package func filter(_ predicate: Filter) -> Results<Element> {
        var query = content.query
        query.predicate = .all([query.predicate, predicate])
        return Results(core: content.core, query: query)
    }

    /// Sorts by a property, or by one behind links: `"room.name"`. Nil comes first in ascending order; text is ordered
    /// by its UTF-8 bytes.
    public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorts by a property, or by one behind links: `\.room?.name`.
    public func sorted<Property: Persistable>(
        by keyPath: KeyPath<Element, Property>, ascending: Bool = true
    ) -> Results<Element> {
        sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
    }

    /// Sorts by several properties, the first one first. Replaces an earlier order.
    public func sorted(by descriptors: some Sequence<SortDescriptor>) -> Results<Element> {
        var query = content.query
        query.sorts = descriptors.map { SQLSort($0.path, ascending: $0.ascending) }
        return Results(core: content.core, query: query)
    }

    /// The position of an object of the same Realm.
    public func index(of object: Element) -> Int? {
        guard let row = object.accessor as? ManagedRow, row.core === content.core, row.isValid else { return nil }
        return content.rowids.firstIndex(of: row.rowid)
    }
}

extension Results: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { content.count }
    public var count: Int { content.count }
    public var first: Element? { content.first as? Element }

    public subscript(position: Int) -> Element {
        guard let object = content.object(at: position) as? Element else {
            programError("The results hold an object that is not a \(Element.self).")
        }
        return object
    }

    public func makeIterator() -> Iterator { Iterator(cursor: RowCursor(core: content.core, query: content.query)) }

    /// Goes over the objects that were found when it was made; those deleted meanwhile are left out.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let cursor: RowCursor

        init(cursor: RowCursor) { self.cursor = cursor }

        @inlinable public mutating func next() -> Element? {
            guard let object = cursor.next() else { return nil }
            // The query is of the class Element.
            return unsafeDowncast(object, to: Element.self)
        }
    }
}

extension Results: CustomStringConvertible {
    public var description: String { "Results<\(Element.self)> (\(count) objects)" }
}

/// One key of an order.
public struct SortDescriptor: Hashable, Sendable {
    let path: PropertyPath
    public let ascending: Bool

    /// The property names, joined by dots.
    public var keyPath: String { path.description }

    public init(keyPath: String, ascending: Bool = true) {
        path = PropertyPath(keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
        self.ascending = ascending
    }

    public init<Root: Object, Property>(keyPath: KeyPath<Root, Property>, ascending: Bool = true) {
        path = PropertyPath(of: keyPath)
        self.ascending = ascending
    }
}
