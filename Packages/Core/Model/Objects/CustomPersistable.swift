/// An app's type that is stored as another type (a scalar or an ``EmbeddedObject``) and may reject stored values.
///
///     extension Colour: FailableCustomPersistable {
///         init?(persistedValue: String) { self.init(hex: persistedValue) }
///         var persistableValue: String { hex }
///     }
///
/// A rejected value reads as nil in an optional property and stops the program in a required one. Queries compare
/// stored values.
public protocol FailableCustomPersistable: OptionalPersistable where PersistedType: OptionalPersistable {
    override associatedtype PersistedType
    /// Returns nil if the type can't represent a stored value. If a required property has this type, it must accept the
    /// default of `PersistedType`.
    init?(persistedValue: PersistedType)
    var persistableValue: PersistedType { get }
}

/// An app's type that is stored as another type (a scalar or an ``EmbeddedObject``) and accepts all its values.
///
///     extension CGPoint: CustomPersistable {
///         public init(persistedValue: PersistablePoint) { self.init(x: persistedValue.x, y: persistedValue.y) }
///         public var persistableValue: PersistablePoint { PersistablePoint(value: [x, y]) }
///     }
public protocol CustomPersistable: FailableCustomPersistable {
    init(persistedValue: PersistedType)
}

extension FailableCustomPersistable {
    public static var _propertyType: PropertyType { PersistedType._propertyType }
    public static var _targetClass: ObjectBase.Type? { PersistedType._targetClass }
    public static var _isProjection: Bool { true }
    public static func _defaultValue() -> Self { _required(PersistedType._defaultValue()) }
    public var _tomboloValue: Value { persistableValue._tomboloValue }
    public static func _from(_ value: Value) -> Self { _required(PersistedType._from(value)) }
    public var _tomboloStored: Stored { persistableValue._tomboloStored }
    public var _namedValue: Any? { persistableValue._namedValue }
    public static func _from(_ stored: Stored) -> Self? {
        // A missing embedded object reads as a new one.
        if case .value(.null) = stored, case .embedded = _propertyType { return _defaultValue() }
        return PersistedType._from(stored).flatMap { Self(persistedValue: $0) }
    }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Self {
        guard case .embedded = _propertyType else { return _from(accessor.value(at: property)) }
        let object = accessor.embeddedObject(at: property).flatMap { PersistedType._from(Stored.object($0)) }
        return _required(object ?? PersistedType._defaultValue())
    }
    public static func _write(_ newValue: Self, _ accessor: any ObjectAccessor, _ property: Int) {
        guard case .embedded = _propertyType else { return accessor.setValue(newValue._tomboloValue, at: property) }
        accessor.setEmbeddedObject(newValue._tomboloEmbedded, at: property)
    }

    private static func _required(_ persisted: PersistedType) -> Self {
        guard let value = Self(persistedValue: persisted) else {
            fatalError(
                "Failed to convert persisted value '\(persisted)' to type '\(Self.self)' in a non-optional context. "
                    + "Declare the property optional, or accept the value in init(persistedValue:).")
        }
        return value
    }
}
