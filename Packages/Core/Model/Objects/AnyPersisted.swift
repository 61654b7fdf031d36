/// What class layouts and stores need from a property wrapper without knowing its value type.
package protocol AnyPersisted: SendableMetatype {
    static var valueType: any Persistable.Type { get }
    /// The stored form of the scalar in the wrapper at an address, and whether it's a default. A random default is
    /// generated now and kept.
    static func scalar(at place: UnsafeMutableRawPointer) -> (value: Value, isDefault: Bool)
    /// Makes the property at this address read and write through the object's accessor.
    static func attach(at place: UnsafeMutableRawPointer, property: Int)
    var declared: PersistedOptions { get }
    /// Whether the declaration or the app gave the unmanaged property a value.
    var hasValue: Bool { get }
    /// The value in an unmanaged object, and whether it's a default. A random default is generated now and kept.
    mutating func unmanagedValue() -> (value: any Persistable, isDefault: Bool)
    /// Sets the value in an unmanaged object.
    /// - Returns: false if the property's type can't represent the value.
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

/// The arguments of `@Persisted(…)`.
@usableFromInline package struct PersistedOptions: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var none: PersistedOptions { PersistedOptions(rawValue: 0) }
    @inlinable package static var primaryKey: PersistedOptions { PersistedOptions(rawValue: 1) }
    @inlinable package static var indexed: PersistedOptions { PersistedOptions(rawValue: 2) }
    @inlinable package static var encrypted: PersistedOptions { PersistedOptions(rawValue: 4) }
    @inlinable package static var cascade: PersistedOptions { PersistedOptions(rawValue: 8) }
}

/// What happens to an object when the object it links to is deleted.
public enum DeleteRule: Sendable {
    /// The link becomes nil.
    case nullify
    /// The object is deleted too.
    case cascade
}
