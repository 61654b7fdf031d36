/// Links and embedded objects are declared optional: `@Persisted var room: Room?`. The type itself is only used for a
/// list's elements.
extension Object: OptionalPersistable {
    public typealias PersistedType = Object
    public static var _propertyType: PropertyType { .link(to: String(describing: self)) }
    public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Self? {
        accessor.linkedObject(at: property) as? Self
    }
}

extension EmbeddedObject: OptionalPersistable {
    public typealias PersistedType = EmbeddedObject
    public static var _propertyType: PropertyType { .embedded(String(describing: self)) }
    public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Self? {
        accessor.embeddedObject(at: property) as? Self
    }
}

extension ObjectBase {
    public static var _isOptional: Bool { false }
    public static var _isProjection: Bool { false }
    public static var _targetClass: ObjectBase.Type? { self }
    public static func _defaultValue() -> Self { Self() }
    public var _tomboloValue: Value { .null }
    public static func _from(_ value: Value) -> Self { Self() }
    public var _tomboloStored: Stored { .object(self) }
    public static func _from(_ stored: Stored) -> Self? {
        if case .object(let object) = stored { object as? Self } else { nil }
    }
}
