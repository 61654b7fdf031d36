import PostgresClient

@testable import TomboloPostgresStore

/// One change of the changelog in readable form: a row, or one object of a bulk row.
struct LogLine: Equatable, CustomStringConvertible {
    let className: String
    let key: String
    let operation: String
    /// Old values by column, with `?` for the trash flag and `reason` for why the object is there.
    let old: [String: String?]
    let root: String?
    let client: Int64?
    let stamp: Int64
    let marks: String?

    var description: String { "\(operation) \(className)(\(key)) \(old)" }

    static func read(_ connection: PostgresConnection, after sequence: Int64 = -1) async throws -> [LogLine] {
        let names = try await connection.query("SELECT class, id, name FROM tombolo.class_column")
        var columns: [Int64: [Int64: String]] = [:]
        for row in names { columns[try row[0].int64, default: [:]][try row[1].int64] = try row[2].string }
        let rows = try await connection.query(
            """
            SELECT c.name, k.key, l.operation, l.columns, l.old, l.root, l.client, l.stamp, l.marks, c.id \
            FROM tombolo.changelog l JOIN tombolo.class c ON c.id = \(BulkRow.classID(ofRow: "l")) \
            CROSS JOIN LATERAL unnest(\(BulkRow.keys(ofRow: "l"))) WITH ORDINALITY AS k (key, place) \
            WHERE l.seq > $1 ORDER BY l.seq, k.place
            """, [.int64(sequence)])
        return try rows.map { row in
            let ids = try row[3].nonNull?.int64Array ?? []
            let values = try row[4].nonNull?.stringArray ?? []
            var old: [String: String?] = [:]
            for (id, value) in zip(ids, values) {
                guard let id else { continue }
                let own = id == Int64(SchemaIdentifiers.trashReasonColumn) ? "reason" : "?"
                old[columns[try row[9].int64]?[id] ?? own] = value
            }
            return LogLine(
                className: try row[0].string, key: try row[1].string, operation: try row[2].string, old: old,
                root: try row[5].nonNull?.string, client: try row[6].nonNull?.int64, stamp: try row[7].int64,
                marks: try row[8].nonNull?.string)
        }
    }

    /// Returns the changelog rows written by `body`.
    static func during(
        _ connection: PostgresConnection, _ body: (PostgresConnection) async throws -> Void
    ) async throws -> [LogLine] {
        let last = try await connection.query("SELECT coalesce(max(seq), -1) FROM tombolo.changelog")
        let sequence = try last[0][0].int64
        try await body(connection)
        return try await read(connection, after: sequence)
    }

    static func lines(
        _ connection: PostgresConnection, _ sql: String
    ) async throws -> [LogLine] {
        try await during(connection) { try await $0.execute(sql) }
    }
}
