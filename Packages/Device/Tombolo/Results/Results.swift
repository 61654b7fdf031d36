public import TomboloModel
internal import TomboloSQL

/// The results of a query: lazy, and live with the Realm's version. Access by index sees every change at once. A
/// `for … in` loop iterates over the elements that were found when it began, so it may delete objects.
///
/// The elements are objects or the values of a list. ``RealmCollection`` has the methods that filter and sort them.
public struct Results<Element: RealmCollectionValue> {
    let content: ResultsContent

    init(core: RealmCore, query: ObjectQuery) {
        content = ResultsContent(core: core, query: query, elementClass: Element._targetClass)
    }

    /// The elements' Realm.
    public var realm: Realm? { Realm(core: content.core) }

    /// The index of an object of the same Realm, or of a value, or nil.
    public func index(of element: Element) -> Int? { content.position(of: element._tomboloStored) }
}

extension Results: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { content.count }
    public var count: Int { content.count }
    public var first: Element? { content.first.map(Element._element) }
    public var last: Element? { content.last.map(Element._element) }

    public subscript(position: Int) -> Element { Element._element(content.element(at: position)) }

    public func makeIterator() -> Iterator { Iterator(content) }

    /// Iterates over the elements that were found when the iterator was made. Skips those deleted since then.
    public struct Iterator: IteratorProtocol {
        /// The cursor over objects, or nil for values.
        @usableFromInline let cursor: RowCursor?
        private let content: ResultsContent
        private var rest: ArraySlice<Int64> = []

        init(_ content: ResultsContent) {
            self.content = content
            if Element.self is Object.Type {
                cursor = RowCursor(core: content.core, query: content.query)
            } else {
                cursor = nil
                rest = content.rowids[...]
            }
        }

        @inlinable public mutating func next() -> Element? {
            guard let cursor else { return nextValue() }
            guard let object = cursor.next() else { return nil }
            // Safe, because the query's class is `Element`.
            return unsafeBitCast(object, to: Element.self)
        }

        @usableFromInline mutating func nextValue() -> Element? {
            while let rowid = rest.popFirst() {
                if let stored = content.present(rowid) { return Element._element(stored) }
            }
            return nil
        }
    }
}

extension Results: Equatable {
    /// Whether both are the same query in the same Realm.
    public static func == (left: Results<Element>, right: Results<Element>) -> Bool {
        left.content === right.content
            || (left.content.core === right.content.core && left.content.query == right.content.query)
    }
}
