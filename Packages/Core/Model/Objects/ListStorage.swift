/// The elements of a managed list. Positions refer to the list as it is at the time of the call, and are within its bounds.
public protocol ListStorage: AnyObject {
    var count: Int { get }
    func element(at position: Int) -> Stored
    /// Inserts elements, first adding unmanaged objects to the Realm.
    func insert(_ elements: [Stored], at position: Int)
    func replace(_ element: Stored, at position: Int)
    func remove(_ positions: Range<Int>)
    /// Removes all elements, including those that aren't counted because their object isn't on the device.
    func removeAll()
    /// Moves an element to the position `target`.
    func move(from source: Int, to target: Int)
    /// Whether the list can still be used: false once its object was deleted or its Realm was closed.
    var isValid: Bool { get }
    /// Whether another storage belongs to the same list.
    func isSameList(as other: any ListStorage) -> Bool
    /// The current elements, one by one, unaffected by later changes to the list. Skips objects that have been deleted
    /// meanwhile.
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
    /// Whether another storage belongs to the same object and property.
    func isSameOrigin(as other: any LinkingStorage) -> Bool
    /// The current objects, with the guarantees of ``ListStorage/snapshot()``.
    func snapshot() -> AnyIterator<Object>
}

extension LinkingStorage {
    public func isSameOrigin(as other: any LinkingStorage) -> Bool { self === other }
}
