internal import Foundation

/// The type of a property. `docs/values.md` lists the column types for each.
public enum PropertyType: Hashable, Sendable {
    case bool
    /// A signed integer of 8, 16, 32 or 64 bits, stored in 64.
    case int(bits: Int)
    /// A 32-bit floating-point number, stored as a double without loss.
    case float
    /// A 64-bit floating-point number.
    case double
    case string
    case data
    /// Microseconds since 1970.
    case date
    case objectId
    case uuid
    /// A decimal floating-point number of 34 digits.
    case decimal128
    /// The primary key of an object of the named class.
    case link(to: String)
    /// Whether an object of the named embedded class is present: true, or nil. The columns that follow are its properties.
    case embedded(String)
    /// Several values in one column, encoded by ``ArrayCoding``: a list of scalars or projections in an embedded
    /// object. Has one type for a scalar, and several for the properties of a projection.
    indirect case array([PropertyType])
    /// An ordered list with a child table: of scalars, links or embedded objects.
    indirect case list(PropertyType, isOptional: Bool)
    /// The objects of the named class that link here; has no column.
    case linkingObjects(String)

    /// The name used in the schema's canonical text and in messages.
    public var name: String {
        switch self {
        case .bool: "bool"
        case .int(let bits): bits == 64 ? "int" : "int\(bits)"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .objectId: "objectId"
        case .uuid: "uuid"
        case .decimal128: "decimal128"
        case .link(let target): "link<\(target)>"
        case .embedded(let name): "embedded<\(name)>"
        case .array(let types): "array<\(types.map(\.name).joined(separator: ","))>"
        case .list(let element, let isOptional): "list<\(element.name)\(isOptional ? "?" : "")>"
        case .linkingObjects(let origin): "linkingObjects<\(origin)>"
        }
    }

    /// The type's zero value. An object from an old client gets it for a required property that the client doesn't know.
    public var zero: Value {
        switch self {
        case .bool: .bool(false)
        case .int: .int(0)
        case .float, .double: .double(0)
        case .string: .string("")
        case .data: .data(.init())
        case .date: .date(0)
        case .objectId: .objectId(ObjectId())
        case .uuid: .uuid(.init(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .decimal128: .decimal(Decimal128())
        case .array: .data(ArrayCoding.empty)
        case .link, .embedded, .list, .linkingObjects: .null
        }
    }
}

extension PropertyType {
    /// The column's type. For links it depends on the target: see ``Schema/storedType(of:)``.
    public var stored: PropertyType {
        switch self {
        case .float: .double
        case .embedded: .bool
        case .array: .data
        default: self
        }
    }
}
