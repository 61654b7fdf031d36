/// The elements of a managed list. Positions refer to the moment of the call and are within the list.
public protocol ListStorage: AnyObject {
    var count: Int { get }
    func element(at position: Int) -> Stored
    /// Unmanaged objects are added to the Realm first.
    func insert(_ elements: [Stored], at position: Int)
    func replace(_ element: Stored, at position: Int)
    func remove(_ positions: Range<Int>)
    /// Removes all elements, also those that aren't counted because their object isn't here.
    func removeAll()
    /// Moves an element so that it's at `target` afterwards.
    func move(from source: Int, to target: Int)
    /// False once the list's object was deleted or its Realm closed.
    var isValid: Bool { get }
    /// Whether another storage is for the same list.
    func isSameList(as other: any ListStorage) -> Bool
    /// The current elements, one by one, whatever happens to the list meanwhile; objects deleted by then are skipped.
    func snapshot() -> AnyIterator<Stored>
}

extension ListStorage {
    public func isSameList(as other: any ListStorage) -> Bool { self === other }

    public func removeAll() {
        let count = count
        if count > 0 { remove(0..<count) }
    }
}

/// The objects that link to a managed object through one property.
public protocol LinkingStorage: AnyObject {
    var count: Int { get }
    func object(at position: Int) -> Object
    /// Whether another storage is for the same object and property.
    func isSameOrigin(as other: any LinkingStorage) -> Bool
    /// The current objects, as for a list.
    func snapshot() -> AnyIterator<Object>
}

extension LinkingStorage {
    public func isSameOrigin(as other: any LinkingStorage) -> Bool { self === other }
}
