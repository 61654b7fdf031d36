public import PostgresClient
public import TomboloModel
public import TomboloSQL

extension PostgresParameter {
    /// A stored value as a parameter of its column's type.
    /// - Throws: ``ValueError`` for a value that the type does not take.
    public init(_ parameter: SQLParameter) throws(ValueError) {
        switch (parameter.type, parameter.value) {
        case (.bool, .null): self = .bool(nil)
        case (.bool, .bool(let value)): self = .bool(value)
        case (.int, .null): self = .int64(nil)
        case (.int, .int(let value)): self = .int64(value)
        case (.double, .null): self = .double(nil)
        case (.double, .double(let value)): self = .double(value)
        case (.string, .null): self = .text(nil)
        case (.string, .string(let value)): self = .text(value)
        case (.data, .null), (.objectId, .null): self = .bytea([UInt8]?.none)
        case (.data, .data(let value)): self = .bytea(value)
        case (.objectId, .objectId(let value)): self = .bytea(value.bytes)
        case (.date, .null): self = .timestamptz(microseconds: nil)
        case (.date, .date(let value)): self = .timestamptz(microseconds: value)
        case (.uuid, .null): self = .uuid(nil)
        case (.uuid, .uuid(let value)): self = .uuid(value)
        default: throw ValueError("A column of type \(parameter.type.name) cannot hold \(parameter.value).")
        }
    }

    /// An object's key.
    public static func objectId(_ id: ObjectId) -> PostgresParameter { .bytea(id.bytes) }
}

extension PostgresCell {
    /// The cell as a stored value.
    /// - Throws: `PostgresDecodingError` where the table is not of the schema's making.
    public func value(of type: PropertyType) throws -> Value {
        if isNull { return .null }
        switch type {
        case .bool: return .bool(try bool)
        case .int: return .int(try int64)
        case .double: return .double(try double)
        case .string: return .string(try string)
        case .data: return .data(.init(try bytes))
        case .date: return .date(try timestampMicroseconds)
        case .objectId: return .objectId(try objectId)
        case .uuid: return .uuid(try uuid)
        case .link, .list: throw ValueError("A link is read as its target's key.")
        }
    }

    /// A key of 12 bytes.
    public var objectId: ObjectId {
        get throws {
            guard let id = ObjectId(bytes: try bytes) else { throw ValueError("A key does not have 12 bytes.") }
            return id
        }
    }
}
