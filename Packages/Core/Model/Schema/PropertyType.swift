internal import Foundation

/// The type of a property. `docs/values.md` gives the column types that follow from it.
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
    /// Whether there is an object of the named embedded class: true, or nil. The object's properties are the columns
    /// that follow.
    case embedded(String)
    /// Several values in one column, in the form of ``ArrayCoding``: a list of scalars or projections in an embedded
    /// object. One type for a scalar, several for the properties of a projection.
    indirect case array([PropertyType])
    /// An ordered list with a child table: of scalars, links or embedded objects.
    indirect case list(PropertyType, isOptional: Bool)
    /// What links here from the named class; no column.
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

    /// The zero of the type, which an old client's object gets for a required property that it does not know.
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
    /// The type of the column, for all but links, whose target decides: see ``Schema/storedType(of:)``.
    public var stored: PropertyType {
        switch self {
        case .float: .double
        case .embedded: .bool
        case .array: .data
        default: self
        }
    }
}
