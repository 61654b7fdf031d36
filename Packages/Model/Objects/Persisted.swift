/// Declares a stored property of an ``Object`` subclass.
///
///     @Persisted(primaryKey: true) var _id: ObjectId
///     @Persisted var price = 0
///     @Persisted(indexed: true) var location: String
///     @Persisted var room: Room?
///     @Persisted var speakers: List<Speaker>
@propertyWrapper
public struct Persisted<Value: Persistable> {
    private enum Storage {
        /// Declared without a value and not yet read: the type's default.
        case unset
        /// From the declaration, or a default that was read: loses to any explicit write when synced.
        case initial(Value)
        case explicit(Value)
        /// The store has the value; the payload is the column's or the list's position.
        case managed(Int)
    }

    private var storage: Storage
    let isPrimaryKey: Bool
    let isIndexed: Bool

    public init() { self.init(storage: .unset) }
    public init(wrappedValue: Value) { self.init(storage: .initial(wrappedValue)) }
    public init(primaryKey: Bool) { self.init(storage: .unset, isPrimaryKey: primaryKey) }
    public init(wrappedValue: Value, primaryKey: Bool) {
        self.init(storage: .initial(wrappedValue), isPrimaryKey: primaryKey)
    }
    public init(indexed: Bool) { self.init(storage: .unset, isIndexed: indexed) }
    public init(wrappedValue: Value, indexed: Bool) {
        self.init(storage: .initial(wrappedValue), isIndexed: indexed)
    }

    private init(storage: Storage, isPrimaryKey: Bool = false, isIndexed: Bool = false) {
        self.storage = storage
        self.isPrimaryKey = isPrimaryKey
        self.isIndexed = isIndexed
    }

    @available(*, unavailable, message: "@Persisted is for properties of Object subclasses")
    public var wrappedValue: Value {
        get { preconditionFailure("@Persisted is for properties of Object subclasses") }
        set { preconditionFailure("@Persisted is for properties of Object subclasses") }
    }

    public static subscript<Enclosing: Object>(
        _enclosingInstance object: Enclosing,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        get {
            switch object[keyPath: storageKeyPath].storage {
            case .managed(let property):
                guard let accessor = object.accessor else { return Value._defaultValue() }
                return Value._read(accessor, property)
            case .initial(let value), .explicit(let value): return value
            case .unset:
                let value = Value._defaultValue()
                object[keyPath: storageKeyPath].storage = .initial(value)
                return value
            }
        }
        set {
            if case .managed(let property) = object[keyPath: storageKeyPath].storage, let accessor = object.accessor {
                Value._write(newValue, accessor, property)
            } else {
                object[keyPath: storageKeyPath].storage = .explicit(newValue)
            }
        }
    }
}

/// What class layouts and stores do with a property whose value type they do not know.
package protocol AnyPersisted: SendableMetatype {
    static var valueType: any Persistable.Type { get }
    var declaresPrimaryKey: Bool { get }
    var declaresIndex: Bool { get }
    /// The value held before the object is managed, and whether it was set explicitly; fixes a random default.
    mutating func unmanagedValue() -> (value: any Persistable, isDefault: Bool)
    /// Sets the value that an unmanaged object holds, from its stored form, or from an object for a link.
    mutating func setUnmanaged(_ stored: Value, _ object: Object?)
    /// Hands the property over to the object's accessor.
    mutating func attach(property: Int)
}

extension Persisted: AnyPersisted {
    package static var valueType: any Persistable.Type { Value.self }
    package var declaresPrimaryKey: Bool { isPrimaryKey }
    package var declaresIndex: Bool { isIndexed }

    package mutating func unmanagedValue() -> (value: any Persistable, isDefault: Bool) {
        switch storage {
        case .explicit(let value): return (value, false)
        case .initial(let value): return (value, true)
        case .unset, .managed:
            let value = Value._defaultValue()
            if case .unset = storage { storage = .initial(value) }
            return (value, true)
        }
    }

    package mutating func setUnmanaged(_ stored: TomboloModel.Value, _ object: Object?) {
        if Value._targetClass == nil {
            storage = .explicit(Value._from(stored))
        } else if let object {
            if let value = object as? Value { storage = .explicit(value) }
        } else {
            storage = .explicit(Value._defaultValue())
        }
    }

    package mutating func attach(property: Int) { storage = .managed(property) }
}
