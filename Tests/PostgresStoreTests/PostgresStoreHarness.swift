import Foundation
import PostgresClient
import ServerStoreConformance
import TomboloModel
import TomboloPostgresStore

/// PostgreSQL under the conformance suite.
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
                        "DELETE FROM \(table) WHERE \(names[0]) = \(Self.literal(reference.key))")
                    continue
                }
                let values = row.values.map(Self.literal).joined(separator: ", ")
                let updates = names.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
                try await connection.execute(
                    "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(values)) "
                        + "ON CONFLICT (\(names[0])) DO UPDATE SET \(updates)")
            }
        }
    }

    func dropChangelog(below tick: Int64) async throws {
        try await database.pool.query("DELETE FROM tombolo.tick WHERE number < $1", [.int64(tick)])
    }

    func finish() async throws { await database.finish() }

    /// A constant as a person would write it: another path than the store's.
    static func literal(_ value: Value) -> String {
        func hex(_ bytes: some Sequence<UInt8>) -> String {
            let digits = bytes.map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }
            return "'\\x\(digits.joined())'::bytea"
        }
        switch value {
        case .null: return "NULL"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return "(\(number))::bigint"
        case .double(let number): return "'\(number)'::double precision"
        case .string(let text): return PostgresSQL.quoteLiteral(text)
        case .data(let data): return hex(data)
        case .objectId(let id): return hex(id.bytes)
        case .uuid(let id): return "'\(id.uuidString)'::uuid"
        case .date(let microseconds):
            let day: Int64 = 86_400_000_000
            let rest = (microseconds % day + day) % day
            let days = (microseconds - rest) / day
            return "('epoch'::timestamptz + \(days) * interval '1 day' + \(rest) * interval '1 microsecond')"
        }
    }
}
