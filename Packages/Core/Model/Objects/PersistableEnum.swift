/// An enumeration stored as its raw value. A stored raw value that matches no case reads as nil in an optional property
/// and as the first case in a required one.
public protocol PersistableEnum: OptionalPersistable, RawRepresentable, CaseIterable
where RawValue: OptionalPersistable, PersistedType == RawValue {}

extension PersistableEnum {
    public static var _propertyType: PropertyType { RawValue._propertyType }
    public static var _allowedValues: [Value]? { allCases.map(\._tomboloValue) }
    public static func _defaultValue() -> Self { _first }
    public var _tomboloValue: Value { rawValue._tomboloValue }
    public var _namedValue: Any? { rawValue._namedValue }
    public static func _from(_ value: Value) -> Self { Self(rawValue: RawValue._from(value)) ?? _first }
    public static func _from(_ stored: Stored) -> Self? {
        guard case .value(let value) = stored, !value.isNull else { return nil }
        return Self(rawValue: RawValue._from(value))
    }
    private static var _first: Self {
        guard let first = allCases.first else { preconditionFailure("\(Self.self) has no cases and cannot be stored.") }
        return first
    }
}
