/// An ordered list of links, `@Persisted var speakers: List<Speaker>`. Before its object is managed it holds the
/// objects themselves; afterwards every call reads and writes the Realm, and needs a write transaction to change.
public final class List<Element: Object> {
    /// The store's side, once managed. Stores only.
    package var storage: (any ListStorage)?
    private var unmanaged: [Element] = []

    public init() {}

    package init(storage: any ListStorage) { self.storage = storage }

    public func append(_ object: Element) { insert(object, at: endIndex) }

    public func append(objectsIn objects: some Sequence<Element>) { insert(Array(objects), at: endIndex) }

    public func insert(_ object: Element, at position: Int) { insert([object], at: position) }

    public func remove(at position: Int) {
        precondition(
            indices.contains(position), "List index \(position) is out of range: the list has \(count) elements.")
        if let storage { storage.remove(at: position) } else { unmanaged.remove(at: position) }
    }

    public func removeAll() {
        if let storage { storage.removeAll() } else { unmanaged.removeAll() }
    }

    private func insert(_ objects: [Element], at position: Int) {
        precondition(
            (0...count).contains(position), "List index \(position) is out of range: the list has \(count) elements.")
        if let storage {
            storage.insert(objects, at: position)
        } else {
            unmanaged.insert(contentsOf: objects, at: position)
        }
    }
}

extension List: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { storage?.count ?? unmanaged.count }

    public subscript(position: Int) -> Element {
        precondition(
            indices.contains(position), "List index \(position) is out of range: the list has \(count) elements.")
        guard let storage else { return unmanaged[position] }
        guard let element = storage.object(at: position) as? Element else {
            preconditionFailure("The list holds an object that is not a \(Element.self).")
        }
        return element
    }
}

extension List: Persistable {
    public static var _propertyType: PropertyType { .list(of: String(describing: Element.self)) }
    public static var _targetClass: Object.Type? { Element.self }
    public static func _defaultValue() -> List<Element> { List() }
    public var _value: Value { .null }
    public static func _from(_ value: Value) -> List<Element> { List() }

    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> List<Element> {
        List(storage: accessor.listStorage(at: property))
    }

    public static func _write(_ newValue: List<Element>, _ accessor: any ObjectAccessor, _ property: Int) {
        let storage = accessor.listStorage(at: property)
        let objects = Array(newValue)
        storage.removeAll()
        storage.insert(objects, at: 0)
    }
}

/// Lets stores read an unmanaged list without knowing its element type.
package protocol AnyObjectList: AnyObject {
    var objects: [Object] { get }
    /// Replaces the elements; objects of another class are left out.
    func replace(with objects: [Object])
    /// Makes a list that the app already holds a managed one.
    func attach(_ storage: any ListStorage)
}

extension List: AnyObjectList {
    package var objects: [Object] { map { $0 } }

    package func replace(with objects: [Object]) {
        removeAll()
        append(objectsIn: objects.compactMap { $0 as? Element })
    }

    package func attach(_ storage: any ListStorage) {
        self.storage = storage
        unmanaged = []
    }
}
