internal import Tombolo

/// A property of an object, for a control to read and set. If the object is managed, setting the property opens a write
/// transaction, or uses the one that the Realm is in.
///
/// Once the object is deleted, this keeps the last known value and ignores new ones.
@MainActor
public final class BoundProperty<Root: Watchable, Value> {
    private let root: Root
    private let keyPath: ReferenceWritableKeyPath<Root, Value>
    private let isEqual: ((Value, Value) -> Bool)?
    private let didSet: (@MainActor (Root) -> Void)?
    private var last: Value

    /// - Parameters:
    ///   - root: an unmanaged, live or frozen object. A frozen object is thawed.
    ///   - isEqual: compares values. Setting an equal value does nothing. Nil to write every value.
    ///   - didSet: called after an unmanaged object's property was set, because that can't be observed.
    public init(
        _ root: Root, _ keyPath: ReferenceWritableKeyPath<Root, Value>, isEqual: ((Value, Value) -> Bool)? = nil,
        didSet: (@MainActor (Root) -> Void)? = nil
    ) {
        self.root = ImplicitWrite.thawed(root) ?? root
        self.keyPath = keyPath
        self.isEqual = isEqual
        self.didSet = didSet
        last = self.root.isInvalidated ? Root._placeholder()[keyPath: keyPath] : self.root[keyPath: keyPath]
    }

    /// The same for an object that a view observes.
    public convenience init(
        of observed: ObservedValue<Root>, _ keyPath: ReferenceWritableKeyPath<Root, Value>,
        isEqual: ((Value, Value) -> Bool)? = nil
    ) {
        self.init(observed.value, keyPath, isEqual: isEqual) { [weak observed] _ in observed?.changing() }
    }

    /// The newest value. A list is returned as a frozen copy, because it's read for rendering.
    public var value: Value {
        get {
            if !root.isInvalidated { last = root[keyPath: keyPath] }
            guard last is any Watchable & RandomAccessCollection, let list = last as? any ThreadConfined,
                let frozen = Self.frozen(list) as? Value
            else { return last }
            return frozen
        }
        set {
            guard !root.isInvalidated, let newValue = ImplicitWrite.thawed(newValue) else { return }
            if let isEqual, isEqual(root[keyPath: keyPath], newValue) { return }
            ImplicitWrite.change(root) { $0[keyPath: keyPath] = newValue }
            if root.realm == nil { didSet?(root) }
        }
    }

    private static func frozen(_ list: some ThreadConfined) -> Any? { Snapshots.freeze(list) }
}

extension BoundProperty where Value: Equatable {
    /// A property whose control sets it repeatedly, as a text field does. Equal values aren't written.
    public convenience init(skippingEqual root: Root, _ keyPath: ReferenceWritableKeyPath<Root, Value>) {
        self.init(root, keyPath, isEqual: { $0 == $1 })
    }
}
