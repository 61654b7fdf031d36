internal import Foundation
internal import PostgresClient
internal import TomboloModel
internal import TomboloSQL

extension Value {
    /// From a result in binary form.
    init(_ cell: PostgresCell, _ type: PropertyType) throws(PostgresDecodingError) {
        guard !cell.isNull else {
            self = .null
            return
        }
        switch type {
        case .bool: self = .bool(try cell.bool)
        case .int: self = .int(try cell.int64)
        case .double: self = .double(try cell.double)
        case .string: self = .string(try cell.string)
        case .date: self = .date(try cell.timestampMicroseconds)
        case .uuid: self = .uuid(try cell.uuid)
        case .objectId:
            let bytes = try cell.bytes
            self = ObjectId(bytes: bytes).map(Value.objectId) ?? .data(Data(bytes))
        case .decimal128: self = .decimal(Decimal128(try cell.scientific) ?? .nan)
        case .data, .float, .link, .embedded, .array, .list, .linkingObjects:
            self = .data(Data(try cell.bytes))
        }
    }

    /// As a parameter of a stored type. A value of another type becomes NULL: callers have validated.
    func parameter(_ type: PropertyType) -> PostgresParameter {
        switch type {
        case .bool: .bool(boolValue)
        case .int: .int64(intValue)
        case .double: .double(doubleValue)
        case .string: .text(stringValue)
        case .date: .timestamptz(microseconds: dateValue)
        case .uuid: .uuid(uuidValue)
        case .decimal128: .numeric(decimalValue?.description)
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects: .bytea(bytesValue)
        }
    }

    /// Values of a stored type as one array parameter.
    static func parameter(_ values: [Value], _ type: PropertyType) -> PostgresParameter {
        switch type {
        case .bool: .boolArray(values.map(\.boolValue))
        case .int: .int64Array(values.map(\.intValue))
        case .double: .doubleArray(values.map(\.doubleValue))
        case .string: .textArray(values.map(\.stringValue))
        case .date: .timestamptzArray(microseconds: values.map(\.dateValue))
        case .uuid: .uuidArray(values.map(\.uuidValue))
        case .decimal128: .numericArray(values.map { $0.decimalValue?.description })
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects:
            .byteaArray(values.map(\.bytesValue))
        }
    }

    private var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    private var intValue: Int64? { if case .int(let value) = self { value } else { nil } }
    private var doubleValue: Double? { if case .double(let value) = self { value } else { nil } }
    private var stringValue: String? { if case .string(let value) = self { value } else { nil } }
    private var dateValue: Int64? { if case .date(let value) = self { value } else { nil } }
    private var uuidValue: UUID? { if case .uuid(let value) = self { value } else { nil } }
    private var decimalValue: Decimal128? { if case .decimal(let value) = self { value } else { nil } }
    private var bytesValue: [UInt8]? {
        switch self {
        case .data(let value): [UInt8](value)
        case .objectId(let value): value.bytes
        default: nil
        }
    }
}

extension PostgresParameter {
    init(_ parameter: SQLParameter) {
        self =
            parameter.list.map { Value.parameter($0, parameter.type) } ?? parameter.value.parameter(parameter.type)
    }
}

extension PropertyType {
    /// The element type of an array parameter, for casts.
    var postgresType: String {
        switch self {
        case .bool: "boolean"
        case .int: "bigint"
        case .double: "double precision"
        case .string: "text"
        case .date: "timestamptz"
        case .uuid: "uuid"
        case .decimal128: "numeric"
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects: "bytea"
        }
    }
}
