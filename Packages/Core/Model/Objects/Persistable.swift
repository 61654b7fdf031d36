public import Foundation

/// A type that an `@Persisted` property can have. All conformances are in this module; apps make their own types
/// conform through ``PersistableEnum`` and ``CustomPersistable``. Members that start with `_` are for the library only.
public protocol Persistable: SendableMetatype {
    /// The stored type: the raw value's type for an enumeration, the persisted type for a projection, and otherwise the
    /// type itself.
    associatedtype PersistedType
    static var _propertyType: PropertyType { get }
    static var _isOptional: Bool { get }
    /// The class of linked or embedded objects, or of a list's objects.
    static var _targetClass: ObjectBase.Type? { get }
    /// Whether this is an app's type that is stored as another type.
    static var _isProjection: Bool { get }
    /// The stored values of an enumeration's cases, or of a list's elements; nil if all values of the type are possible.
    static var _allowedValues: [Value]? { get }
    /// The value of a property that is declared without one. As in Realm, it's random for ObjectId and UUID, and the
    /// current time for Date.
    static func _defaultValue() -> Self
    /// The stored form of a scalar. Null for objects and lists.
    var _tomboloValue: Value { get }
    /// Converts from the stored form. Returns the default for a value of another type.
    static func _from(_ value: Value) -> Self
    /// The stored form, including that of objects.
    var _tomboloStored: Stored { get }
    /// Converts from the stored form. Returns nil if the type can't represent the value.
    static func _from(_ stored: Stored) -> Self?
    /// - Parameter property: the column of a scalar, link or embedded object; otherwise the property's position.
    static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self
    static func _write(_ newValue: Self, _ accessor: any ObjectAccessor, _ property: Int)
    /// Whether assigning to an unmanaged property keeps the current value and updates it with ``_take(_:into:)``.
    static var _keepsIdentity: Bool { get }
    /// The value that an unmanaged property holds after an assignment.
    static func _take(_ newValue: Self, into held: Self) -> Self
    /// The result of reading the property by name: raw values for enumerations, stored values for projections.
    var _namedValue: Any? { get }
}

extension Persistable {
    public static var _isOptional: Bool { false }
    public static var _targetClass: ObjectBase.Type? { nil }
    public static var _isProjection: Bool { false }
    public static var _allowedValues: [Value]? { nil }
    public var _tomboloStored: Stored { .value(_tomboloValue) }
    public static func _from(_ stored: Stored) -> Self? {
        if case .value(let value) = stored { _from(value) } else { nil }
    }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self {
        _from(accessor.value(at: property))
    }
    public static func _write(_ newValue: Self, _ accessor: any ObjectAccessor, _ property: Int) {
        accessor.setValue(newValue._tomboloValue, at: property)
    }
    @inlinable public static var _keepsIdentity: Bool { false }
    public static func _take(_ newValue: Self, into held: Self) -> Self { newValue }
    public var _namedValue: Any? { self }
}

extension Persistable {
    /// Converts a collection's element like a required property, so an unknown raw value becomes the first case.
    package static func _element(_ stored: Stored) -> Self {
        if let element = _from(stored) { return element }
        guard case .value(let value) = stored else {
            programError("The collection holds \(stored), which can't be converted to \(Self.self).")
        }
        return _from(value)
    }
}

/// Types that can be elements of a ``List``. Hashable as in Realm, so that the compiler synthesises `==` for projections.
public protocol RealmCollectionValue: Persistable, Hashable {}

/// Types whose optionals are persistable too.
public protocol OptionalPersistable: RealmCollectionValue {
    /// Reads an optional property of the type.
    static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Self?
}

extension OptionalPersistable {
    public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Self? {
        switch _propertyType {
        case .link: accessor.linkedObject(at: property) as? Self
        case .embedded: accessor.embeddedObject(at: property).flatMap { _from(Stored.object($0)) }
        default: Optional<Self>._from(accessor.value(at: property))
        }
    }
}

extension Bool: OptionalPersistable {
    public typealias PersistedType = Bool
    public static var _propertyType: PropertyType { .bool }
    @inlinable public static func _defaultValue() -> Bool { false }
    public var _tomboloValue: Value { .bool(self) }
    public static func _from(_ value: Value) -> Bool { if case .bool(let value) = value { value } else { false } }
    @inlinable public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Bool {
        accessor.integer(at: property) == 1
    }
    @inlinable public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Bool? {
        accessor.integer(at: property).map { $0 == 1 }
    }
}

/// The integer types that properties can have.
public protocol PersistableInteger: OptionalPersistable, FixedWidthInteger, SignedInteger {}

extension PersistableInteger {
    public static var _propertyType: PropertyType { .int(bits: bitWidth) }
    @inlinable public static func _defaultValue() -> Self { 0 }
    public var _tomboloValue: Value { .int(Int64(self)) }
    public static func _from(_ value: Value) -> Self {
        if case .int(let value) = value { Self(clamping: value) } else { 0 }
    }
    @inlinable public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self {
        accessor.integer(at: property).map { Self(clamping: $0) } ?? 0
    }
    @inlinable public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Self? {
        accessor.integer(at: property).map { Self(clamping: $0) }
    }
}

extension Int: PersistableInteger {
    public typealias PersistedType = Int
}
extension Int8: PersistableInteger {
    public typealias PersistedType = Int8
}
extension Int16: PersistableInteger {
    public typealias PersistedType = Int16
}
extension Int32: PersistableInteger {
    public typealias PersistedType = Int32
}
extension Int64: PersistableInteger {
    public typealias PersistedType = Int64
}

extension Double: OptionalPersistable {
    public typealias PersistedType = Double
    public static var _propertyType: PropertyType { .double }
    @inlinable public static func _defaultValue() -> Double { 0 }
    public var _tomboloValue: Value { .double(self) }
    public static func _from(_ value: Value) -> Double { if case .double(let value) = value { value } else { 0 } }
    @inlinable public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Double {
        accessor.double(at: property) ?? 0
    }
    @inlinable public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Double? {
        accessor.double(at: property)
    }
}

extension Float: OptionalPersistable {
    public typealias PersistedType = Float
    public static var _propertyType: PropertyType { .float }
    @inlinable public static func _defaultValue() -> Float { 0 }
    public var _tomboloValue: Value { .double(Double(self)) }
    public static func _from(_ value: Value) -> Float {
        if case .double(let value) = value { Float(value) } else { 0 }
    }
}

extension String: OptionalPersistable {
    public typealias PersistedType = String
    public static var _propertyType: PropertyType { .string }
    @inlinable public static func _defaultValue() -> String { "" }
    public var _tomboloValue: Value { .string(self) }
    public static func _from(_ value: Value) -> String { if case .string(let value) = value { value } else { "" } }
    @inlinable public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> String {
        accessor.text(at: property) ?? ""
    }
    @inlinable public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> String? {
        accessor.text(at: property)
    }
}

extension Data: OptionalPersistable {
    public typealias PersistedType = Data
    public static var _propertyType: PropertyType { .data }
    public static func _defaultValue() -> Data { Data() }
    public var _tomboloValue: Value { .data(self) }
    public static func _from(_ value: Value) -> Data { if case .data(let value) = value { value } else { Data() } }
}

extension ObjectId: OptionalPersistable {
    public typealias PersistedType = ObjectId
    public static var _propertyType: PropertyType { .objectId }
    public static func _defaultValue() -> ObjectId { .generate() }
    public var _tomboloValue: Value { .objectId(self) }
    public static func _from(_ value: Value) -> ObjectId {
        if case .objectId(let value) = value { value } else { ObjectId() }
    }
}

extension UUID: OptionalPersistable {
    public typealias PersistedType = UUID
    public static var _propertyType: PropertyType { .uuid }
    public static func _defaultValue() -> UUID { UUID() }
    public var _tomboloValue: Value { .uuid(self) }
    public static func _from(_ value: Value) -> UUID {
        if case .uuid(let value) = value { value } else { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    }
}

extension Decimal128: OptionalPersistable {
    public typealias PersistedType = Decimal128
    public static var _propertyType: PropertyType { .decimal128 }
    public static func _defaultValue() -> Decimal128 { Decimal128() }
    public var _tomboloValue: Value { .decimal(self) }
    public static func _from(_ value: Value) -> Decimal128 {
        if case .decimal(let value) = value { value } else { Decimal128() }
    }
}
