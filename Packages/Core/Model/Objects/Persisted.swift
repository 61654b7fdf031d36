/// Declares a stored property of an ``Object`` subclass.
///
///     @Persisted(primaryKey: true) var _id: ObjectId
///     @Persisted var price = 0
///     @Persisted(indexed: true) var location: String
///     @Persisted var room: Room?
///     @Persisted var speakers: List<Speaker>
@propertyWrapper
public struct Persisted<Value: Persistable> {
    @usableFromInline enum Storage {
        /// Declared without a value and not yet read, so it has the type's default.
        case unset
        /// The declared value, or a default that was read. In sync, it loses to any explicit write.
        case initial(Value)
        case explicit(Value)
        /// The store has the value; the payload is the position of the column or list.
        case managed(Int)
    }

    @usableFromInline var storage: Storage
    @usableFromInline let options: PersistedOptions

    /// A property with its type's default: 0, "", false, nil, an empty list, the current time or a random identifier.
    @inlinable public init() { self.init(storage: .unset) }
    /// A property with a declared default.
    @inlinable public init(wrappedValue: Value) { self.init(storage: .initial(wrappedValue)) }
    /// The primary key: unique in its class, and fixed once the object is managed. Synced classes need one named `_id`.
    @inlinable public init(primaryKey: Bool) { self.init(storage: .unset, primaryKey ? .primaryKey : .none) }
    /// A primary key with a declared default; see ``init(primaryKey:)``.
    @inlinable public init(wrappedValue: Value, primaryKey: Bool) {
        self.init(storage: .initial(wrappedValue), primaryKey ? .primaryKey : .none)
    }
    /// A property with an index, which speeds up comparisons with `==`, `in` and ranges.
    @inlinable public init(indexed: Bool) { self.init(storage: .unset, indexed ? .indexed : .none) }
    /// An indexed property with a declared default.
    @inlinable public init(wrappedValue: Value, indexed: Bool) {
        self.init(storage: .initial(wrappedValue), indexed ? .indexed : .none)
    }
    /// A property whose values are encrypted in the file with the configuration's key. Queries can compare it only with nil.
    @inlinable public init(encrypted: Bool) { self.init(storage: .unset, encrypted ? .encrypted : .none) }
    /// An encrypted property with a declared default; see ``init(encrypted:)``.
    @inlinable public init(wrappedValue: Value, encrypted: Bool) {
        self.init(storage: .initial(wrappedValue), encrypted ? .encrypted : .none)
    }
    /// A link with a delete rule. `.cascade` on `Attendee.order` deletes an order's attendees along with it.
    @inlinable public init(onDelete: DeleteRule) {
        self.init(storage: .unset, onDelete == .cascade ? .cascade : .none)
    }

    @inlinable init(storage: Storage, _ options: PersistedOptions = .none) {
        self.storage = storage
        self.options = options
    }

    /// Sets the property of an unmanaged object.
    @inlinable mutating func assign(_ newValue: Value) {
        guard Value._keepsIdentity else {
            storage = .explicit(newValue)
            return
        }
        switch storage {
        case .initial(let held), .explicit(let held): storage = .explicit(Value._take(newValue, into: held))
        case .unset, .managed: storage = .explicit(Value._take(newValue, into: Value._defaultValue()))
        }
    }

    @available(*, unavailable, message: "@Persisted is for properties of Object subclasses")
    public var wrappedValue: Value {
        get { preconditionFailure("@Persisted is for properties of Object subclasses") }
        set { preconditionFailure("@Persisted is for properties of Object subclasses") }
    }

    public static subscript<Enclosing: ObjectBase>(
        _enclosingInstance object: Enclosing,
        wrapped wrappedKeyPath: ReferenceWritableKeyPath<Enclosing, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Enclosing, Self>
    ) -> Value {
        @inlinable @inline(__always) get {
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
        @inlinable @inline(__always) set {
            if case .managed(let property) = object[keyPath: storageKeyPath].storage, let accessor = object.accessor {
                Value._write(newValue, accessor, property)
            } else {
                object[keyPath: storageKeyPath].assign(newValue)
            }
        }
    }
}

extension Persisted where Value: LinkingObjectsProperty {
    /// The objects that link to this one through the named property.
    public init(originProperty: String) {
        self.init(storage: .initial(Value._linked(from: originProperty)))
    }
}

extension Persisted: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        self.init(storage: .explicit(try decoder.singleValueContainer().decode(Value.self)))
    }
}

extension Persisted: Encodable where Value: Encodable {
    /// - Throws: `EncodingError` for a property of a managed object, because the wrapper alone can't read it.
    public func encode(to encoder: any Encoder) throws {
        // Encodes through a container, so that encoders apply their strategies for dates and data.
        var container = encoder.singleValueContainer()
        switch storage {
        case .initial(let value), .explicit(let value): try container.encode(value)
        case .unset: try container.encode(Value._defaultValue())
        case .managed:
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription: "Only unmanaged objects can be encoded: encode a copy, made by T(value: object)."
                ))
        }
    }
}
