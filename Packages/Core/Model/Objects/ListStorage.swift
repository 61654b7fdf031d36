/// The elements of a managed list. Positions are those at the time of the call, and within the list.
public protocol ListStorage: AnyObject {
    var count: Int { get }
    func element(at position: Int) -> Stored
    /// Unmanaged objects are added to the Realm first.
    func insert(_ elements: [Stored], at position: Int)
    func replace(_ element: Stored, at position: Int)
    func remove(_ positions: Range<Int>)
    /// The element is at `target` afterwards.
    func move(from source: Int, to target: Int)
    /// False once the object that has the list was deleted or its Realm was closed.
    var isValid: Bool { get }
    /// Whether another storage is that of the same list.
    func isSameList(as other: any ListStorage) -> Bool
    /// The present elements, one after another, whatever happens to the list meanwhile; objects deleted by then are left
    /// out.
    func snapshot() -> AnyIterator<Stored>
}

extension ListStorage {
    public func isSameList(as other: any ListStorage) -> Bool { self === other }
}

/// The objects that link to a managed object by one property.
public protocol LinkingStorage: AnyObject {
    var count: Int { get }
    func object(at position: Int) -> Object
    /// Whether another storage is about the same object and property.
    func isSameOrigin(as other: any LinkingStorage) -> Bool
    /// The present objects, as of a list.
    func snapshot() -> AnyIterator<Object>
}

extension LinkingStorage {
    public func isSameOrigin(as other: any LinkingStorage) -> Bool { self === other }
}
