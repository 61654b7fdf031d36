internal import Foundation

/// Reads and hands over the property wrapper at an address: where a store goes through all properties of many objects.
/// For the common types the code is compiled for the type, others share generic code, which is several times slower.
package struct PersistedAccess: Sendable {
    /// The stored form of a scalar, and whether it is a default; fixes a random one.
    let read: @Sendable (UnsafeMutableRawPointer) -> (value: Value, isDefault: Bool)
    /// Hands the property over to the object's accessor.
    let attach: @Sendable (UnsafeMutableRawPointer, Int) -> Void

    static func of(_ type: any Persistable.Type) -> PersistedAccess {
        common[ObjectIdentifier(type)] ?? generic(type)
    }

    private static let common: [ObjectIdentifier: PersistedAccess] = [
        ObjectIdentifier(Bool.self): make(Bool.self), ObjectIdentifier(Bool?.self): make(Bool?.self),
        ObjectIdentifier(Int.self): make(Int.self), ObjectIdentifier(Int?.self): make(Int?.self),
        ObjectIdentifier(Int64.self): make(Int64.self), ObjectIdentifier(Int32.self): make(Int32.self),
        ObjectIdentifier(Double.self): make(Double.self), ObjectIdentifier(Double?.self): make(Double?.self),
        ObjectIdentifier(String.self): make(String.self), ObjectIdentifier(String?.self): make(String?.self),
        ObjectIdentifier(Date.self): make(Date.self), ObjectIdentifier(Date?.self): make(Date?.self),
        ObjectIdentifier(Data.self): make(Data.self), ObjectIdentifier(Data?.self): make(Data?.self),
        ObjectIdentifier(ObjectId.self): make(ObjectId.self), ObjectIdentifier(UUID.self): make(UUID.self),
    ]

    private static func generic(_ type: any Persistable.Type) -> PersistedAccess {
        func open<Property: Persistable>(_: Property.Type) -> PersistedAccess { make(Property.self) }
        return open(type)
    }

    @inline(__always)
    private static func make<Property: Persistable>(_: Property.Type) -> PersistedAccess {
        PersistedAccess(
            read: { place in
                let wrapper = place.assumingMemoryBound(to: Persisted<Property>.self)
                switch wrapper.pointee.storage {
                case .explicit(let value): return (value._tomboloValue, false)
                case .initial(let value): return (value._tomboloValue, true)
                case .managed: return (.null, true)
                case .unset:
                    let value = Property._defaultValue()
                    wrapper.pointee.storage = .initial(value)
                    return (value._tomboloValue, true)
                }
            },
            attach: { place, position in
                place.assumingMemoryBound(to: Persisted<Property>.self).pointee.storage = .managed(position)
            })
    }
}
