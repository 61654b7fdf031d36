internal import Foundation

/// The type of a stored property. `docs/values.md` gives the column types that follow from it.
public enum PropertyType: Hashable, Sendable {
    case bool
    /// A signed integer of 8, 16, 32 or 64 bits, stored in 64.
    case int(bits: Int)
    /// A 64-bit floating-point number; `float` properties are stored in it without loss.
    case double
    case string
    case data
    case date
    case objectId
    case uuid
    /// The primary key of an object of the named class.
    case link(to: String)
    /// An ordered list of links to objects of the named class: a child table.
    case list(of: String)

    /// The name used in the schema's canonical text and in messages.
    public var name: String {
        switch self {
        case .bool: "bool"
        case .int(let bits): bits == 64 ? "int" : "int\(bits)"
        case .double: "double"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .objectId: "objectId"
        case .uuid: "uuid"
        case .link(let target): "link<\(target)>"
        case .list(let target): "list<\(target)>"
        }
    }

    /// The zero of the type, which an old client's object gets for a required property that it does not know.
    public var zero: Value {
        switch self {
        case .bool: .bool(false)
        case .int: .int(0)
        case .double: .double(0)
        case .string: .string("")
        case .data: .data(.init())
        case .date: .date(0)
        case .objectId: .objectId(ObjectId())
        case .uuid: .uuid(.init(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        case .link, .list: .null
        }
    }
}
