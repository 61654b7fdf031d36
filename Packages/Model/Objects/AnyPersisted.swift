/// What class layouts and stores do with a property whose value type they do not know.
package protocol AnyPersisted: SendableMetatype {
    static var valueType: any Persistable.Type { get }
    /// The wrapper's code for the places of instances.
    static var access: PersistedAccess { get }
    var declared: PersistedOptions { get }
    /// The value held before the object is managed, and whether it is a default; fixes a random one.
    mutating func unmanagedValue() -> (value: any Persistable, isDefault: Bool)
    /// Sets what an unmanaged object holds.
    /// - Returns: false where the type has no value for it.
    mutating func setUnmanaged(_ stored: Stored) -> Bool
    /// Hands the property over to the object's accessor.
    mutating func attach(property: Int)
}

extension Persisted: AnyPersisted {
    package static var valueType: any Persistable.Type { Value.self }
    package static var access: PersistedAccess { PersistedAccess.of(Value.self) }
    package var declared: PersistedOptions { options }

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

    package mutating func attach(property: Int) { storage = .managed(property) }
}

/// What `@Persisted(…)` says besides the type.
@usableFromInline package struct PersistedOptions: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8

    @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let primaryKey = PersistedOptions(rawValue: 1)
    package static let indexed = PersistedOptions(rawValue: 2)
    package static let encrypted = PersistedOptions(rawValue: 4)
    package static let cascade = PersistedOptions(rawValue: 8)
}

/// What becomes of an object when the object that it links to is deleted.
public enum DeleteRule: Sendable {
    /// The link reads nil.
    case nullify
    /// The object is deleted too.
    case cascade
}
