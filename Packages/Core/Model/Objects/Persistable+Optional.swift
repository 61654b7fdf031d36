extension Optional: Persistable where Wrapped: OptionalPersistable {
    public typealias PersistedType = Wrapped.PersistedType?
    public static var _propertyType: PropertyType { Wrapped._propertyType }
    public static var _isOptional: Bool { true }
    public static var _targetClass: ObjectBase.Type? { Wrapped._targetClass }
    public static var _isProjection: Bool { Wrapped._isProjection }
    public static var _allowedValues: [Value]? { Wrapped._allowedValues }
    public static func _defaultValue() -> Wrapped? { nil }
    public var _tomboloValue: Value { self?._tomboloValue ?? .null }
    public static func _from(_ value: Value) -> Wrapped? {
        value.isNull ? nil : Wrapped._from(Stored.value(value))
    }
    public var _tomboloStored: Stored { self?._tomboloStored ?? .value(.null) }
    public var _namedValue: Any? { self?._namedValue }
    public static func _from(_ stored: Stored) -> Wrapped?? {
        if case .value(let value) = stored, value.isNull { return .some(nil) }
        return .some(Wrapped._from(stored))
    }
    @inlinable public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Wrapped? {
        Wrapped._readOptional(accessor, property)
    }
    public static func _write(_ newValue: Wrapped?, _ accessor: any ObjectAccessor, _ property: Int) {
        switch Wrapped._propertyType {
        case .link: accessor.setLinkedObject(newValue as? Object, at: property)
        case .embedded: accessor.setEmbeddedObject(newValue?._tomboloEmbedded, at: property)
        default: accessor.setValue(newValue._tomboloValue, at: property)
        }
    }
}

extension Optional: RealmCollectionValue where Wrapped: OptionalPersistable {}

extension Persistable {
    /// The embedded object that represents the value.
    package var _tomboloEmbedded: EmbeddedObject? {
        if case .object(let object) = _tomboloStored { object as? EmbeddedObject } else { nil }
    }
}
