import Foundation
import PostgresClient
import TestSupport
import TomboloModel
import TomboloSQL

/// A database of the test's own in a throw-away PostgreSQL cluster, with the tables of a schema.
struct PostgresDatabase {
    let pool: PostgresPool
    let schema: Schema

    init(_ schema: Schema) async throws {
        self.schema = schema
        pool = PostgresPool(configuration: try await TestCluster.shared().createDatabase())
        for item in schema.classes {
            let columns = item.columns.map { SQLDialect.postgresql.columnDefinition(of: $0, in: schema) }
            try await pool.execute(
                "CREATE TABLE \(SQLDialect.postgresql.quoted(item.table)) (\(columns.joined(separator: ", ")))")
        }
    }

    func insert(_ rows: [Row], into item: ClassSchema) async throws {
        let places = item.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        for row in rows {
            let parameters = zip(row.values, item.columns).map {
                Self.parameter(SQLParameter($0, schema.storedType(of: $1)))
            }
            try await pool.query(
                "INSERT INTO \(SQLDialect.postgresql.quoted(item.table)) VALUES (\(places))", parameters)
        }
    }

    func values(_ sql: String, _ parameters: [SQLParameter], _ type: PropertyType) async throws -> [Value] {
        try await pool.query(sql, parameters.map(Self.parameter)).map { try Self.value($0[0], type) }
    }

    func rows(of item: ClassSchema) async throws -> [Row] {
        try await pool.query("SELECT * FROM \(SQLDialect.postgresql.quoted(item.table)) ORDER BY ctid").map { row in
            Row(try item.columns.enumerated().map { try Self.value(row[$0], schema.storedType(of: $1)) })
        }
    }

    static func parameter(_ parameter: SQLParameter) -> PostgresParameter {
        if let list = parameter.list { return array(list, parameter.type) }
        return switch (parameter.value, parameter.type) {
        case (.bool(let value), _): .bool(value)
        case (.int(let value), _): .int64(value)
        case (.double(let value), _): .double(value)
        case (.string(let value), _): .text(value)
        case (.data(let value), _): .bytea(value)
        case (.date(let value), _): .timestamptz(microseconds: value)
        case (.objectId(let value), _): .bytea(value.bytes)
        case (.uuid(let value), _): .uuid(value)
        case (.decimal(let value), _): .numeric(value.description)
        case (.null, _): .null
        }
    }

    private static func array(_ list: [Value], _ type: PropertyType) -> PostgresParameter {
        switch type {
        case .bool: .boolArray(list.map { if case .bool(let value) = $0 { value } else { nil } })
        case .int: .int64Array(list.map { if case .int(let value) = $0 { value } else { nil } })
        case .double: .doubleArray(list.map { if case .double(let value) = $0 { value } else { nil } })
        case .string: .textArray(list.map { if case .string(let value) = $0 { value } else { nil } })
        case .date:
            .timestamptzArray(microseconds: list.map { if case .date(let value) = $0 { value } else { nil } })
        case .uuid: .uuidArray(list.map { if case .uuid(let value) = $0 { value } else { nil } })
        case .decimal128:
            .numericArray(list.map { if case .decimal(let value) = $0 { value.description } else { nil } })
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects:
            .byteaArray(
                list.map {
                    switch $0 {
                    case .data(let value): [UInt8](value)
                    case .objectId(let value): value.bytes
                    default: nil
                    }
                })
        }
    }

    static func value(_ cell: PostgresCell, _ type: PropertyType) throws -> Value {
        if cell.isNull { return .null }
        switch type {
        case .bool: return .bool(try cell.bool)
        case .int: return .int(try cell.int64)
        case .double: return .double(try cell.double)
        case .string: return .string(try cell.string)
        case .data: return .data(Data(try cell.bytes))
        case .date: return .date(try cell.timestampMicroseconds)
        case .objectId: return ObjectId(bytes: try cell.bytes).map(Value.objectId) ?? .null
        case .uuid: return .uuid(try cell.uuid)
        case .decimal128: return Decimal128(try cell.scientific).map(Value.decimal) ?? .null
        case .float, .link, .embedded, .array, .list, .linkingObjects: return .null
        }
    }
}
