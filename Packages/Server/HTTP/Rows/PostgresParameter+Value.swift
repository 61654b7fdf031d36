public import PostgresClient
public import TomboloModel
public import TomboloSQL

extension PostgresParameter {
    /// A stored value as a parameter of its column's type.
    /// - Throws: ``ValueError`` for a value that the type does not take.
    public init(_ parameter: SQLParameter) throws(ValueError) {
        if let list = parameter.list {
            self = try Self.array(list, parameter.type)
            return
        }
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
        case (.decimal128, .null): self = .numeric(nil)
        case (.decimal128, .decimal(let value)): self = .numeric(value.description)
        default: throw ValueError("A column of type \(parameter.type.name) cannot hold \(parameter.value).")
        }
    }

    private static func array(_ list: [Value], _ type: PropertyType) throws(ValueError) -> PostgresParameter {
        func all<Element>(_ element: (Value) -> Element?) throws(ValueError) -> [Element?] {
            var result: [Element?] = []
            for value in list {
                guard let element = element(value) else {
                    throw ValueError("A column of type \(type.name) cannot hold \(value).")
                }
                result.append(element)
            }
            return result
        }
        switch type {
        case .bool: return .boolArray(try all { if case .bool(let value) = $0 { value } else { nil } })
        case .int: return .int64Array(try all { if case .int(let value) = $0 { value } else { nil } })
        case .double: return .doubleArray(try all { if case .double(let value) = $0 { value } else { nil } })
        case .string: return .textArray(try all { if case .string(let value) = $0 { value } else { nil } })
        case .data: return .byteaArray(try all { if case .data(let value) = $0 { [UInt8](value) } else { nil } })
        case .objectId: return .byteaArray(try all { if case .objectId(let value) = $0 { value.bytes } else { nil } })
        case .date:
            return .timestamptzArray(
                microseconds: try all { if case .date(let value) = $0 { value } else { nil } })
        case .uuid: return .uuidArray(try all { if case .uuid(let value) = $0 { value } else { nil } })
        case .decimal128:
            return .numericArray(try all { if case .decimal(let value) = $0 { value.description } else { nil } })
        case .float, .link, .embedded, .array, .list, .linkingObjects:
            throw ValueError("A link is compared with its target's key.")
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
        case .decimal128: return .decimal(Decimal128(try scientific) ?? .nan)
        case .float, .link, .embedded, .array, .list, .linkingObjects:
            throw ValueError("A link is read as its target's key.")
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
