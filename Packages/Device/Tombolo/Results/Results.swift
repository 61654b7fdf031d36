public import TomboloModel
internal import TomboloSQL

/// What a query finds: lazy, and live with the Realm's version. Index loops see every change at once; `for … in` goes
/// over what was found when the loop began, so that objects may be deleted in it.
///
/// The elements are objects; of a list, what the list has: ``RealmCollection`` says how they are filtered and sorted.
public struct Results<Element: RealmCollectionValue> {
    let content: ResultsContent

    init(core: RealmCore, query: ObjectQuery) {
        content = ResultsContent(core: core, query: query, elementClass: Element._targetClass)
    }

    /// The Realm that the elements are in.
    public var realm: Realm? { Realm(core: content.core) }

    /// The position of an element: of an object of the same Realm, or of a value.
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

    /// Goes over the elements that were found when it was made; those deleted meanwhile are left out.
    public struct Iterator: IteratorProtocol {
        /// Of objects.
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
            // The query is of the class Element.
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
    /// Whether both are the same query on the same Realm.
    public static func == (left: Results<Element>, right: Results<Element>) -> Bool {
        left.content === right.content
            || (left.content.core === right.content.core && left.content.query == right.content.query)
    }
}
