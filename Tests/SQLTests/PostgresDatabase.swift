import Foundation
import PostgresClient
import PostgresValues
import TestSupport
import TomboloModel
import TomboloSQL

/// A separate database in a temporary PostgreSQL cluster, with the tables of a schema.
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
            let parameters = try zip(row.values, item.columns).map {
                try PostgresParameter($0, as: schema.storedType(of: $1))
            }
            try await pool.query(
                "INSERT INTO \(SQLDialect.postgresql.quoted(item.table)) VALUES (\(places))", parameters)
        }
    }

    func values(_ sql: String, _ parameters: [SQLParameter], _ type: PropertyType) async throws -> [Value] {
        try await pool.query(sql, parameters.map { try PostgresParameter($0) }).map { try $0[0].value(of: type) }
    }

    func rows(of item: ClassSchema) async throws -> [Row] {
        try await pool.query("SELECT * FROM \(SQLDialect.postgresql.quoted(item.table)) ORDER BY ctid").map { row in
            Row(try item.columns.enumerated().map { try row[$0].value(of: schema.storedType(of: $1)) })
        }
    }
}
