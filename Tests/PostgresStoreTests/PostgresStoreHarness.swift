import Foundation
import PostgresClient
import ServerStoreConformance
import TestSupport
import TomboloModel
import TomboloPostgresStore

/// Runs the conformance suite against PostgreSQL.
struct PostgresStoreHarness: ServerStoreHarness {
    let database: TestDatabase

    var store: PostgresServerStore { database.store }

    static func make(schema: Schema) async throws -> PostgresStoreHarness {
        PostgresStoreHarness(database: try await TestDatabase.make(schema))
    }

    func write(_ rows: [(ObjectReference, Row?)]) async throws {
        let schema = database.schema
        try await database.pool.transaction { connection in
            for (reference, row) in rows {
                let item = schema[reference.classIndex]
                let table = PostgresSQL.quoteIdentifier("public", item.table)
                let names = item.columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
                guard let row else {
                    try await connection.execute(
                        "DELETE FROM \(table) WHERE \(names[0]) = \(postgresLiteral(reference.key))")
                    continue
                }
                let values = row.values.map(postgresLiteral).joined(separator: ", ")
                let updates = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
                try await connection.execute(
                    "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values)) "
                        + "ON CONFLICT (\(names[0])) DO UPDATE SET \(updates)")
            }
        }
    }

    func dropChangelog(below tick: Int64) async throws {
        try await database.pool.query("DELETE FROM tombolo.tick WHERE number < $1", [.int64(tick)])
        try await database.pool.query(
            """
            INSERT INTO tombolo.retention (floor, first_seq, set_at) SELECT number, first_seq, 0 FROM tombolo.tick \
            WHERE number = $1 ON CONFLICT (id) DO UPDATE SET floor = excluded.floor, first_seq = excluded.first_seq
            """, [.int64(tick)])
    }

    func finish() async throws { await database.finish() }
}
