internal import Foundation
public import PostgresClient
public import TomboloModel
public import TomboloSQL

/// Values as parameters. A value goes to PostgreSQL in the binary form of its column's type, with that type's number,
/// so that a statement needs no casts; see `docs/values.md` for the types.
extension PostgresParameter {
    /// A value for a column of this type.
    /// - Parameter type: a stored type (``Schema/storedType(of:)``): for a link, its target's key type.
    /// - Throws: ``ValueError`` if the column can't hold the value.
    public init(_ value: Value, as type: PropertyType) throws(ValueError) {
        switch type {
        case .bool: self = .bool(try value.content(\.bool, type))
        case .int: self = .int64(try value.content(\.int, type))
        case .double: self = .double(try value.content(\.double, type))
        case .string: self = .text(try value.content(\.string, type))
        case .data: self = .bytea(try value.content(\.data, type))
        case .date: self = .timestamptz(microseconds: try value.content(\.date, type))
        case .objectId: self = .bytea(try value.content(\.objectId, type))
        case .uuid: self = .uuid(try value.content(\.uuid, type))
        case .decimal128: self = .numeric(try value.content(\.decimal, type))
        case .float, .link, .embedded, .array, .list, .linkingObjects: throw ValueError(notStored: type)
        }
    }

    /// Values of one type as an array, for `= ANY ($1)` and `unnest($1)`. Null becomes NULL.
    /// - Throws: ``ValueError`` if a column of the type can't hold one of the values.
    public init(list: [Value], of type: PropertyType) throws(ValueError) {
        switch type {
        case .bool: self = .boolArray(try list.contents(\.bool, type))
        case .int: self = .int64Array(try list.contents(\.int, type))
        case .double: self = .doubleArray(try list.contents(\.double, type))
        case .string: self = .textArray(try list.contents(\.string, type))
        case .data: self = .byteaArray(try list.contents({ $0.data.map(Array.init) }, type))
        case .date: self = .timestamptzArray(microseconds: try list.contents(\.date, type))
        case .objectId: self = .byteaArray(try list.contents(\.objectId, type))
        case .uuid: self = .uuidArray(try list.contents(\.uuid, type))
        case .decimal128: self = .numericArray(try list.contents(\.decimal, type))
        case .float, .link, .embedded, .array, .list, .linkingObjects: throw ValueError(notStored: type)
        }
    }

    /// What ``SQLBuilder`` asks to bind.
    /// - Throws: ``ValueError`` if the value isn't of the parameter's type.
    public init(_ parameter: SQLParameter) throws(ValueError) {
        if let list = parameter.list {
            try self.init(list: list, of: parameter.type)
        } else {
            try self.init(parameter.value, as: parameter.type)
        }
    }

    /// An object's key.
    public static func objectId(_ id: ObjectId) -> PostgresParameter { .bytea(id.bytes) }
}

extension Value {
    fileprivate var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    fileprivate var int: Int64? { if case .int(let value) = self { value } else { nil } }
    fileprivate var double: Double? { if case .double(let value) = self { value } else { nil } }
    fileprivate var string: String? { if case .string(let value) = self { value } else { nil } }
    fileprivate var data: Data? { if case .data(let value) = self { value } else { nil } }
    fileprivate var date: Int64? { if case .date(let value) = self { value } else { nil } }
    fileprivate var objectId: [UInt8]? { if case .objectId(let value) = self { value.bytes } else { nil } }
    fileprivate var uuid: UUID? { if case .uuid(let value) = self { value } else { nil } }
    fileprivate var decimal: String? { if case .decimal(let value) = self { value.description } else { nil } }

    /// - Returns: nil for null.
    fileprivate func content<Content>(
        _ read: (Value) -> Content?, _ type: PropertyType
    ) throws(ValueError) -> Content? {
        if let content = read(self) { return content }
        guard self == .null else { throw ValueError("A column of type \(type.name) can't hold \(self).") }
        return nil
    }
}

extension [Value] {
    fileprivate func contents<Content>(
        _ read: (Value) -> Content?, _ type: PropertyType
    ) throws(ValueError) -> [Content?] {
        try map { value throws(ValueError) in try value.content(read, type) }
    }
}
