public import Foundation

/// A type that an `@Persisted` property can have. Conformances live in this module; apps conform their own types
/// through ``PersistableEnum``.
public protocol Persistable {
    static var _propertyType: PropertyType { get }
    static var _isOptional: Bool { get }
    /// The class that links and lists point to.
    static var _targetClass: Object.Type? { get }
    /// The value of a property that was declared without one; random for ObjectId and UUID, as in Realm.
    static func _defaultValue() -> Self
    /// The stored form. Not called for links and lists.
    var _value: Value { get }
    /// From the stored form. A value of another type reads as the default.
    static func _from(_ value: Value) -> Self
    static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self
    static func _write(_ newValue: Self, _ accessor: any ObjectAccessor, _ property: Int)
}

extension Persistable {
    public static var _isOptional: Bool { false }
    public static var _targetClass: Object.Type? { nil }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self {
        _from(accessor.value(at: property))
    }
    public static func _write(_ newValue: Self, _ accessor: any ObjectAccessor, _ property: Int) {
        accessor.setValue(newValue._value, at: property)
    }
}

/// Types whose optional can be persisted too.
public protocol OptionalPersistable: Persistable {}

extension Bool: OptionalPersistable {
    public static var _propertyType: PropertyType { .bool }
    public static func _defaultValue() -> Bool { false }
    public var _value: Value { .bool(self) }
    public static func _from(_ value: Value) -> Bool { if case .bool(let value) = value { value } else { false } }
}

/// The integer types that properties can have.
public protocol PersistableInteger: OptionalPersistable, FixedWidthInteger, SignedInteger {}

extension PersistableInteger {
    public static var _propertyType: PropertyType { .int(bits: bitWidth) }
    public static func _defaultValue() -> Self { 0 }
    public var _value: Value { .int(Int64(self)) }
    public static func _from(_ value: Value) -> Self {
        if case .int(let value) = value { Self(clamping: value) } else { 0 }
    }
}

extension Int: PersistableInteger {}
extension Int8: PersistableInteger {}
extension Int16: PersistableInteger {}
extension Int32: PersistableInteger {}
extension Int64: PersistableInteger {}

extension Double: OptionalPersistable {
    public static var _propertyType: PropertyType { .double }
    public static func _defaultValue() -> Double { 0 }
    public var _value: Value { .double(self) }
    public static func _from(_ value: Value) -> Double { if case .double(let value) = value { value } else { 0 } }
}

extension Float: OptionalPersistable {
    public static var _propertyType: PropertyType { .double }
    public static func _defaultValue() -> Float { 0 }
    public var _value: Value { .double(Double(self)) }
    public static func _from(_ value: Value) -> Float {
        if case .double(let value) = value { Float(value) } else { 0 }
    }
}

extension String: OptionalPersistable {
    public static var _propertyType: PropertyType { .string }
    public static func _defaultValue() -> String { "" }
    public var _value: Value { .string(self) }
    public static func _from(_ value: Value) -> String { if case .string(let value) = value { value } else { "" } }
}

extension Data: OptionalPersistable {
    public static var _propertyType: PropertyType { .data }
    public static func _defaultValue() -> Data { Data() }
    public var _value: Value { .data(self) }
    public static func _from(_ value: Value) -> Data { if case .data(let value) = value { value } else { Data() } }
}

extension Date: OptionalPersistable {
    public static var _propertyType: PropertyType { .date }
    public static func _defaultValue() -> Date { Date(timeIntervalSince1970: 0) }
    public var _value: Value { .date(microsecondsSince1970) }
    public static func _from(_ value: Value) -> Date {
        if case .date(let value) = value { Date(microsecondsSince1970: value) } else { _defaultValue() }
    }
}

extension ObjectId: OptionalPersistable {
    public static var _propertyType: PropertyType { .objectId }
    public static func _defaultValue() -> ObjectId { .generate() }
    public var _value: Value { .objectId(self) }
    public static func _from(_ value: Value) -> ObjectId {
        if case .objectId(let value) = value { value } else { ObjectId() }
    }
}

extension UUID: OptionalPersistable {
    public static var _propertyType: PropertyType { .uuid }
    public static func _defaultValue() -> UUID { UUID() }
    public var _value: Value { .uuid(self) }
    public static func _from(_ value: Value) -> UUID {
        if case .uuid(let value) = value { value } else { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    }
}

/// An enumeration stored as its raw value. A stored raw value that no case has reads as the first case.
public protocol PersistableEnum: OptionalPersistable, RawRepresentable, CaseIterable
where RawValue: OptionalPersistable {}

extension PersistableEnum {
    public static var _propertyType: PropertyType { RawValue._propertyType }
    public static func _defaultValue() -> Self { _first }
    public var _value: Value { rawValue._value }
    public static func _from(_ value: Value) -> Self { Self(rawValue: RawValue._from(value)) ?? _first }
    private static var _first: Self {
        guard let first = allCases.first else { preconditionFailure("\(Self.self) has no case and cannot be stored.") }
        return first
    }
}

extension Optional: Persistable where Wrapped: OptionalPersistable {
    public static var _propertyType: PropertyType { Wrapped._propertyType }
    public static var _isOptional: Bool { true }
    public static var _targetClass: Object.Type? { Wrapped._targetClass }
    public static func _defaultValue() -> Wrapped? { nil }
    public var _value: Value { self?._value ?? .null }
    public static func _from(_ value: Value) -> Wrapped? { value.isNull ? nil : Wrapped._from(value) }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Wrapped? {
        if let target = Wrapped._targetClass {
            _ = target
            return accessor.linkedObject(at: property) as? Wrapped
        }
        return _from(accessor.value(at: property))
    }
    public static func _write(_ newValue: Wrapped?, _ accessor: any ObjectAccessor, _ property: Int) {
        if Wrapped._targetClass != nil {
            accessor.setLinkedObject(newValue as? Object, at: property)
        } else {
            accessor.setValue(newValue._value, at: property)
        }
    }
}

/// Links are declared optional: `@Persisted var room: Room?`. The type itself is never a property's.
extension Object: OptionalPersistable {
    public static var _propertyType: PropertyType { .link(to: String(describing: self)) }
    public static var _targetClass: Object.Type? { self }
    public static func _defaultValue() -> Self { Self() }
    public var _value: Value { .null }
    public static func _from(_ value: Value) -> Self { Self() }
}
