internal import Foundation

/// The offset and type of a property's wrapper in a class's instances, for stores that visit all properties of many
/// objects. It has no reference-counted members, so loops copy it for free.
///
/// Wrappers of common types are read and written by type-specific code; the others use the wrapper's generic code,
/// which is several times slower.
package struct PropertyPlace: Sendable {
    /// The common types, if the wrapper at `offset` has exactly that type, and `other` for everything else.
    private enum Kind: UInt8 {
        case bool, optionalBool, int, optionalInt, int64, int32, double, optionalDouble, string, optionalString
        case date, optionalDate, data, optionalData, objectId, uuid
        case other
    }

    /// The offset in bytes in an instance.
    private let offset: Int
    private let wrapper: any AnyPersisted.Type
    /// The argument for the accessor; see ``Persistable/_read(_:_:)``.
    private let position: Int
    private let kind: Kind

    init(offset: Int, wrapper: any AnyPersisted.Type, position: Int) {
        self.offset = offset
        self.wrapper = wrapper
        self.position = position
        kind = Self.kinds[ObjectIdentifier(wrapper)] ?? .other
    }

    private static let kinds: [ObjectIdentifier: Kind] = [
        ObjectIdentifier(Persisted<Bool>.self): .bool, ObjectIdentifier(Persisted<Bool?>.self): .optionalBool,
        ObjectIdentifier(Persisted<Int>.self): .int, ObjectIdentifier(Persisted<Int?>.self): .optionalInt,
        ObjectIdentifier(Persisted<Int64>.self): .int64, ObjectIdentifier(Persisted<Int32>.self): .int32,
        ObjectIdentifier(Persisted<Double>.self): .double, ObjectIdentifier(Persisted<Double?>.self): .optionalDouble,
        ObjectIdentifier(Persisted<String>.self): .string, ObjectIdentifier(Persisted<String?>.self): .optionalString,
        ObjectIdentifier(Persisted<Date>.self): .date, ObjectIdentifier(Persisted<Date?>.self): .optionalDate,
        ObjectIdentifier(Persisted<Data>.self): .data, ObjectIdentifier(Persisted<Data?>.self): .optionalData,
        ObjectIdentifier(Persisted<ObjectId>.self): .objectId, ObjectIdentifier(Persisted<UUID>.self): .uuid,
    ]

    /// The stored form of a scalar in an unmanaged object, and whether it's a default. A random default is generated
    /// now and kept.
    /// - Parameter start: the address of an instance whose class has this property.
    func scalar(of start: UnsafeMutableRawPointer) -> (value: Value, isDefault: Bool) {
        let place = start + offset
        switch kind {
        case .bool: return Persisted<Bool>.scalarInline(at: place)
        case .optionalBool: return Persisted<Bool?>.scalarInline(at: place)
        case .int: return Persisted<Int>.scalarInline(at: place)
        case .optionalInt: return Persisted<Int?>.scalarInline(at: place)
        case .int64: return Persisted<Int64>.scalarInline(at: place)
        case .int32: return Persisted<Int32>.scalarInline(at: place)
        case .double: return Persisted<Double>.scalarInline(at: place)
        case .optionalDouble: return Persisted<Double?>.scalarInline(at: place)
        case .string: return Persisted<String>.scalarInline(at: place)
        case .optionalString: return Persisted<String?>.scalarInline(at: place)
        case .date: return Persisted<Date>.scalarInline(at: place)
        case .optionalDate: return Persisted<Date?>.scalarInline(at: place)
        case .data: return Persisted<Data>.scalarInline(at: place)
        case .optionalData: return Persisted<Data?>.scalarInline(at: place)
        case .objectId: return Persisted<ObjectId>.scalarInline(at: place)
        case .uuid: return Persisted<UUID>.scalarInline(at: place)
        case .other: return wrapper.scalar(at: place)
        }
    }

    /// Makes the property read and write through the object's accessor.
    /// - Parameter start: the address of an instance whose class has this property.
    func attach(_ start: UnsafeMutableRawPointer) {
        let place = start + offset
        switch kind {
        case .bool: Persisted<Bool>.attachInline(at: place, position)
        case .optionalBool: Persisted<Bool?>.attachInline(at: place, position)
        case .int: Persisted<Int>.attachInline(at: place, position)
        case .optionalInt: Persisted<Int?>.attachInline(at: place, position)
        case .int64: Persisted<Int64>.attachInline(at: place, position)
        case .int32: Persisted<Int32>.attachInline(at: place, position)
        case .double: Persisted<Double>.attachInline(at: place, position)
        case .optionalDouble: Persisted<Double?>.attachInline(at: place, position)
        case .string: Persisted<String>.attachInline(at: place, position)
        case .optionalString: Persisted<String?>.attachInline(at: place, position)
        case .date: Persisted<Date>.attachInline(at: place, position)
        case .optionalDate: Persisted<Date?>.attachInline(at: place, position)
        case .data: Persisted<Data>.attachInline(at: place, position)
        case .optionalData: Persisted<Data?>.attachInline(at: place, position)
        case .objectId: Persisted<ObjectId>.attachInline(at: place, position)
        case .uuid: Persisted<UUID>.attachInline(at: place, position)
        case .other: wrapper.attach(at: place, property: position)
        }
    }
}

extension Persisted {
    /// The memory at a property's offset is bound to its wrapper's type as long as the instance lives: the offset comes
    /// from the type's metadata, and the kind was determined by comparing the field type from the same metadata.
    @inline(__always)
    fileprivate static func scalarInline(at place: UnsafeMutableRawPointer) -> (
        value: TomboloModel.Value, isDefault: Bool
    ) {
        let wrapper = place.assumingMemoryBound(to: Self.self)
        switch wrapper.pointee.storage {
        case .explicit(let value): return (value._tomboloValue, false)
        case .initial(let value): return (value._tomboloValue, true)
        case .managed: return (.null, true)
        case .unset:
            let value = Value._defaultValue()
            wrapper.pointee.storage = .initial(value)
            return (value._tomboloValue, true)
        }
    }

    @inline(__always)
    fileprivate static func attachInline(at place: UnsafeMutableRawPointer, _ position: Int) {
        place.assumingMemoryBound(to: Self.self).pointee.storage = .managed(position)
    }

    package static func scalar(at place: UnsafeMutableRawPointer) -> (value: TomboloModel.Value, isDefault: Bool) {
        scalarInline(at: place)
    }

    package static func attach(at place: UnsafeMutableRawPointer, property: Int) {
        attachInline(at: place, property)
    }
}
