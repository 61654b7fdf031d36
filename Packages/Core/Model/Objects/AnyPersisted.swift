/// What class layouts and stores do with a property whose value type they do not know.
package protocol AnyPersisted: SendableMetatype {
    static var valueType: any Persistable.Type { get }
    /// The stored form of the scalar that the wrapper at an address holds, and whether it is a default; fixes a random
    /// one.
    static func scalar(at place: UnsafeMutableRawPointer) -> (value: Value, isDefault: Bool)
    /// Hands the property at an address over to the object's accessor.
    static func attach(at place: UnsafeMutableRawPointer, property: Int)
    var declared: PersistedOptions { get }
    /// Whether the declaration, or the app, gave the unmanaged property a value.
    var hasValue: Bool { get }
    /// The value held before the object is managed, and whether it is a default; fixes a random one.
    mutating func unmanagedValue() -> (value: any Persistable, isDefault: Bool)
    /// Sets what an unmanaged object holds.
    /// - Returns: false where the type has no value for it.
    mutating func setUnmanaged(_ stored: Stored) -> Bool
}

extension Persisted: AnyPersisted {
    package static var valueType: any Persistable.Type { Value.self }
    package var declared: PersistedOptions { options }

    package var hasValue: Bool {
        switch storage {
        case .initial, .explicit: true
        case .unset, .managed: false
        }
    }

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

    package mutating func setUnmanaged(_ stored: Stored) -> Bool {
        guard let value = Value._from(stored) else { return false }
        storage = .explicit(value)
        return true
    }
}

/// What `@Persisted(…)` says besides the type.
@usableFromInline package struct PersistedOptions: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var none: PersistedOptions { PersistedOptions(rawValue: 0) }
    @inlinable package static var primaryKey: PersistedOptions { PersistedOptions(rawValue: 1) }
    @inlinable package static var indexed: PersistedOptions { PersistedOptions(rawValue: 2) }
    @inlinable package static var encrypted: PersistedOptions { PersistedOptions(rawValue: 4) }
    @inlinable package static var cascade: PersistedOptions { PersistedOptions(rawValue: 8) }
}

/// What becomes of an object when the object that it links to is deleted.
public enum DeleteRule: Sendable {
    /// The link reads nil.
    case nullify
    /// The object is deleted too.
    case cascade
}
