import Foundation
import GRDB
import TomboloModel
import TomboloSQL

/// An in-memory SQLite database with the tables of a schema.
struct SQLiteDatabase {
    let queue: DatabaseQueue
    let schema: Schema

    init(_ schema: Schema) throws {
        self.schema = schema
        queue = try DatabaseQueue()
        // A device's connection has this function.
        let order = DatabaseFunction("decimal_order", argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).flatMap { Decimal128($0) }.map { Data($0.orderKey) }
        }
        queue.inDatabase { $0.add(function: order) }
        try queue.write { database in
            for item in schema.classes {
                let columns = item.columns.map { SQLDialect.sqlite.columnDefinition(of: $0, in: schema) }
                try database.execute(
                    sql: "CREATE TABLE \(SQLDialect.sqlite.quoted(item.table)) (\(columns.joined(separator: ", ")))")
            }
        }
    }

    func insert(_ rows: [TomboloModel.Row], into item: ClassSchema) throws {
        let places = item.columns.map { _ in "?" }.joined(separator: ", ")
        try queue.write { database in
            for row in rows {
                try database.execute(
                    sql: "INSERT INTO \(SQLDialect.sqlite.quoted(item.table)) VALUES (\(places))",
                    arguments: StatementArguments(row.values.map(Self.databaseValue)))
            }
        }
    }

    /// The keys of the rows that a statement selects, which must be its first column.
    func values(_ sql: String, _ parameters: [SQLParameter], _ type: PropertyType) throws -> [Value] {
        try queue.read { database in
            try GRDB.Row.fetchAll(
                database, sql: sql, arguments: StatementArguments(parameters.map { Self.databaseValue($0.value) })
            ).map { Self.value($0[0], type) }
        }
    }

    func rows(of item: ClassSchema) throws -> [TomboloModel.Row] {
        try queue.read { database in
            try GRDB.Row.fetchAll(database, sql: "SELECT * FROM \(SQLDialect.sqlite.quoted(item.table)) ORDER BY rowid")
                .map { row in
                    TomboloModel.Row(
                        item.columns.enumerated().map { Self.value(row[$0], schema.storedType(of: $1)) })
                }
        }
    }

    func execute(_ sql: String) throws {
        try queue.write { try $0.execute(sql: sql) }
    }

    /// SQLite's query plan for a statement.
    func plan(of sql: String, _ parameters: [SQLParameter]) throws -> [String] {
        try queue.read { database in
            try GRDB.Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN \(sql)",
                arguments: StatementArguments(parameters.map { Self.databaseValue($0.value) })
            ).map { $0["detail"] }
        }
    }

    static func databaseValue(_ value: Value) -> DatabaseValue {
        switch value {
        case .null: .null
        case .bool(let value): (value ? 1 : 0).databaseValue
        case .int(let value), .date(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .string(let value): value.databaseValue
        case .data(let value): value.databaseValue
        case .objectId(let value): Data(value.bytes).databaseValue
        case .uuid(let value): withUnsafeBytes(of: value.uuid) { Data($0) }.databaseValue
        case .decimal(let value): value.description.databaseValue
        }
    }

    static func value(_ stored: DatabaseValue, _ type: PropertyType) -> Value {
        switch (stored.storage, type) {
        case (.int64(let value), .bool): .bool(value != 0)
        case (.int64(let value), .int): .int(value)
        case (.int64(let value), .date): .date(value)
        case (.double(let value), .double): .double(value)
        case (.string(let value), .string): .string(value)
        case (.string(let value), .decimal128): Decimal128(value).map(Value.decimal) ?? .null
        case (.blob(let value), .data): .data(value)
        case (.blob(let value), .objectId): ObjectId(bytes: value).map(Value.objectId) ?? .null
        case (.blob(let value), .uuid):
            .uuid(UUID(uuid: value.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        // GRDB has no storage case for an empty blob.
        default: .null
        }
    }
}
