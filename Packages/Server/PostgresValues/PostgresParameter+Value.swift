internal import Foundation
public import PostgresClient
public import TomboloModel
public import TomboloSQL

/// Converts values to parameters. A value is sent in the binary form of its column's type, together with that type's
/// OID, so statements need no casts. See `docs/values.md` for the types.
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
        try self.init(list, of: type) { $0 }
    }

    /// The same for values taken from elements.
    public init<Element>(
        _ elements: some Collection<Element>, of type: PropertyType, _ value: (Element) -> Value
    ) throws(ValueError) {
        func array(
            of elementType: ElementType, _ append: (Value, inout [UInt8]) -> Bool
        ) throws(ValueError) -> PostgresParameter {
            try .array(of: elementType, elements) { (element, bytes: inout [UInt8]) throws(ValueError) -> Bool in
                let value = value(element)
                if append(value, &bytes) { return true }
                guard value.isNull else { throw ValueError(value, isNot: type) }
                return false
            }
        }
        switch type {
        case .bool:
            self = try array(of: .bool) { value, bytes in
                guard case .bool(let flag) = value else { return false }
                bytes.append(flag ? 1 : 0)
                return true
            }
        case .int:
            self = try array(of: .int64) { value, bytes in
                guard case .int(let number) = value else { return false }
                bytes.appendBigEndian(number)
                return true
            }
        case .double:
            self = try array(of: .double) { value, bytes in
                guard case .double(let number) = value else { return false }
                bytes.appendBigEndian(number.bitPattern)
                return true
            }
        case .string:
            self = try array(of: .text) { value, bytes in
                guard case .string(let text) = value else { return false }
                bytes.append(contentsOf: text.utf8)
                return true
            }
        case .data:
            self = try array(of: .bytea) { value, bytes in
                guard case .data(let data) = value else { return false }
                bytes.append(contentsOf: data)
                return true
            }
        case .date:
            self = try array(of: .timestamptz) { value, bytes in
                guard case .date(let microseconds) = value else { return false }
                bytes.appendBigEndian(PostgresTime.encode(microseconds))
                return true
            }
        case .objectId:
            self = try array(of: .bytea) { value, bytes in
                guard case .objectId(let id) = value else { return false }
                id.withBytes { bytes.append(contentsOf: $0) }
                return true
            }
        case .uuid:
            self = try array(of: .uuid) { value, bytes in
                guard case .uuid(let id) = value else { return false }
                withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
                return true
            }
        case .decimal128:
            var texts: [String?] = []
            for element in elements { texts.append(try value(element).content(\.decimal, type)) }
            self = .numericArray(texts)
        case .float, .link, .embedded, .array, .list, .linkingObjects: throw ValueError(notStored: type)
        }
    }

    /// Converts a parameter of ``SQLBuilder``.
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
        guard self == .null else { throw ValueError(self, isNot: type) }
        return nil
    }
}

extension ValueError {
    fileprivate init(_ value: Value, isNot type: PropertyType) {
        self.init("A column of type \(type.name) can't hold \(value).")
    }
}
