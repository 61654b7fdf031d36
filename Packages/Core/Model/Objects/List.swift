/// An ordered list of links (`List<Speaker>`), embedded objects, scalars (`List<String>`, `List<Int?>`), enumerations
/// or projections. An unmanaged object's list holds the elements itself. In a managed list, every call reads from or
/// writes to the Realm, and changes need a write transaction.
public final class List<Element: RealmCollectionValue> {
    /// The store's side, nil while unmanaged. For stores only.
    package var storage: (any ListStorage)?
    private var unmanaged: [Element] = []

    /// An empty, unmanaged list.
    public init() {}

    package init(storage: any ListStorage) { self.storage = storage }

    /// Replaces a range of elements with any number of others. The range must be within the list.
    public func replaceSubrange(_ range: some RangeExpression<Int>, with elements: some Collection<Element>) {
        let range = range.relative(to: self)
        if range.lowerBound < 0 || range.upperBound > count { outOfBounds(range) }
        // If `elements` comes from this list itself, it's read before the list changes.
        guard let storage else { return unmanaged.replaceSubrange(range, with: Array(elements)) }
        let added = elements.map(\._tomboloStored)
        if !range.isEmpty { storage.remove(range) }
        if !added.isEmpty { storage.insert(added, at: range.lowerBound) }
    }

    private func check(_ position: Int) {
        if !indices.contains(position) { outOfBounds(position, count) }
    }

    private func outOfBounds(_ position: Int, _ limit: Int) -> Never {
        programError("Index \(position) is out of bounds (must be less than \(limit)).")
    }

    /// Moves an element to the index `target`. Both indexes must be within the list.
    public func move(from source: Int, to target: Int) {
        check(source)
        check(target)
        guard source != target else { return }
        if let storage {
            storage.move(from: source, to: target)
        } else {
            unmanaged.insert(unmanaged.remove(at: source), at: target)
        }
    }

    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        check(first)
        check(second)
        guard first != second else { return }
        let (low, high) = (Swift.min(first, second), Swift.max(first, second))
        move(from: high, to: low)
        if low + 1 != high { move(from: low + 1, to: high) }
    }
}

extension List: RandomAccessCollection, MutableCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storage?.count ?? unmanaged.count }

    /// Iterates over the elements that the list had when the loop began, so the loop may change the list.
    public func makeIterator() -> AnyIterator<Element> {
        guard let storage else { return AnyIterator(unmanaged.makeIterator()) }
        let elements = storage.snapshot()
        return AnyIterator { elements.next().map(Element._element) }
    }

    public subscript(position: Int) -> Element {
        get {
            check(position)
            guard let storage else { return unmanaged[position] }
            return Element._element(storage.element(at: position))
        }
        set {
            check(position)
            if let storage {
                storage.replace(newValue._tomboloStored, at: position)
            } else {
                unmanaged[position] = newValue
            }
        }
    }
}

extension List {
    /// A slice of the list. Assigning another slice replaces these elements with any number of others.
    public subscript(bounds: Range<Int>) -> Slice<List<Element>> {
        get {
            if bounds.lowerBound < 0 || bounds.upperBound > count { outOfBounds(bounds) }
            return Slice(base: self, bounds: bounds)
        }
        set {
            // Changes to the slice itself, as in `list[1..<3].sort()`, have already been made to the list.
            if newValue.base === self, newValue.startIndex..<newValue.endIndex == bounds { return }
            replaceSubrange(bounds, with: newValue)
        }
    }

    private func outOfBounds(_ range: Range<Int>) -> Never {
        programError("Range \(range) is out of bounds: the list has \(count) elements.")
    }

    /// Appends an element. In a managed list, an unmanaged object is added to the Realm.
    public func append(_ element: Element) { insert(element, at: endIndex) }

    /// Appends the elements of a sequence, in order.
    public func append(objectsIn elements: some Sequence<Element>) {
        replaceSubrange(endIndex..<endIndex, with: Array(elements))
    }

    /// Appends the elements of a sequence, in order.
    public func append(contentsOf elements: some Sequence<Element>) { append(objectsIn: elements) }

    /// Inserts an element before a position. A position equal to the count appends it.
    public func insert(_ element: Element, at position: Int) {
        if !(0...count).contains(position) { outOfBounds(position, count + 1) }
        replaceSubrange(position..<position, with: CollectionOfOne(element))
    }

    /// Inserts elements before a position. A position equal to the count appends them.
    public func insert(contentsOf elements: some Collection<Element>, at position: Int) {
        if !(0...count).contains(position) { outOfBounds(position, count + 1) }
        replaceSubrange(position..<position, with: elements)
    }

    /// Removes an element. A linked object stays in the Realm; an embedded object is deleted.
    public func remove(at position: Int) {
        check(position)
        replaceSubrange(position..<(position + 1), with: EmptyCollection())
    }

    /// Removes all elements, in a synced Realm including those whose objects aren't on the device. Linked objects stay
    /// in the Realm; embedded objects are deleted.
    public func removeAll() { if let storage { storage.removeAll() } else { unmanaged = [] } }

    /// Same as ``removeAll()``; there's no capacity to keep.
    public func removeAll(keepingCapacity: Bool) { removeAll() }

    /// Removes the first elements. Stops the program if the list has fewer.
    public func removeFirst(_ number: Int = 1) {
        guard (0...count).contains(number) else {
            programError("It is not possible to remove \(number) elements from a list that has \(count).")
        }
        replaceSubrange(0..<number, with: EmptyCollection())
    }

    /// Removes the last elements. Stops the program if the list has fewer.
    public func removeLast(_ number: Int = 1) {
        guard (0...count).contains(number) else {
            programError("It is not possible to remove \(number) elements from a list that has \(count).")
        }
        replaceSubrange((count - number)..<count, with: EmptyCollection())
    }

    /// Removes the elements in a range.
    public func removeSubrange(_ range: some RangeExpression<Int>) {
        replaceSubrange(range, with: EmptyCollection())
    }

    /// Replaces an element.
    public func replace(index: Int, object: Element) { self[index] = object }
}

/// A managed list equals only itself; unmanaged lists are equal if their elements are.
extension List: Equatable {
    public static func == (left: List<Element>, right: List<Element>) -> Bool {
        switch (left.storage, right.storage) {
        case (let a?, let b?): a.isSameList(as: b)
        case (nil, nil):
            left.unmanaged.lazy.map(\._tomboloStored).elementsEqual(right.unmanaged.lazy.map(\._tomboloStored))
        case (_?, nil), (nil, _?): false
        }
    }
}

extension List {
    /// Same as `==`, for any value.
    public func isEqual(_ object: Any?) -> Bool { (object as? List<Element>).map { $0 == self } ?? false }
}

extension List: Persistable {
    public typealias PersistedType = List<Element>
    public static var _propertyType: PropertyType { .list(Element._propertyType, isOptional: Element._isOptional) }
    public static var _targetClass: ObjectBase.Type? { Element._targetClass }
    public static var _isProjection: Bool { Element._isProjection }
    public static var _allowedValues: [Value]? { Element._allowedValues }
    public static func _defaultValue() -> List<Element> { List() }
    public var _tomboloValue: Value { .null }
    public static func _from(_ value: Value) -> List<Element> { List() }

    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> List<Element> {
        List(storage: accessor.listStorage(ofProperty: property))
    }

    public static func _write(_ newValue: List<Element>, _ accessor: any ObjectAccessor, _ property: Int) {
        let storage = accessor.listStorage(ofProperty: property)
        if let own = newValue.storage, storage.isSameList(as: own) { return }
        let elements = newValue.map(\._tomboloStored)
        storage.removeAll()
        if !elements.isEmpty { storage.insert(elements, at: 0) }
    }

    @inlinable public static var _keepsIdentity: Bool { true }

    /// The property keeps its own list and copies the other list's elements into it, so that two objects never share a list.
    public static func _take(_ newValue: List<Element>, into held: List<Element>) -> List<Element> {
        if held !== newValue { held.replaceSubrange(0..<held.count, with: Array(newValue)) }
        return held
    }
}

/// A list as stores see it, without its element type.
package protocol AnyList: AnyObject {
    var storedElements: [Stored] { get }
    var elementType: any RealmCollectionValue.Type { get }
    /// Replaces the elements, omitting values of another type.
    func replace(with elements: [Stored])
    /// Makes the list managed, although the app may already hold it.
    func attach(_ storage: any ListStorage)
}

extension List: AnyList {
    package var storedElements: [Stored] { map(\._tomboloStored) }
    package var elementType: any RealmCollectionValue.Type { Element.self }

    package func replace(with elements: [Stored]) {
        let elements = elements.compactMap { Element._from($0) }
        guard let storage else { return unmanaged = elements }
        let added = elements.map(\._tomboloStored)
        storage.removeAll()
        if !added.isEmpty { storage.insert(added, at: 0) }
    }

    package func attach(_ storage: any ListStorage) {
        self.storage = storage
        unmanaged = []
    }
}

extension AnyList {
    /// The elements of a list of objects.
    package var objects: [ObjectBase] {
        storedElements.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }
}
