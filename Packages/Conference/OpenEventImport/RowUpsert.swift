package import PostgresClient
import PostgresValues
package import TomboloModel
import TomboloSQL

/// Upserts many rows of a class with few statements. Existing rows change only where they differ, so writing the same
/// rows again does nothing at all.
package struct RowUpsert: Sendable {
    /// The number of rows that one statement writes.
    package static let maximumRowCount = 1_000

    package enum Existing: Sendable {
        /// The existing row takes the new values where they differ.
        case update
        /// The existing row stays as it is, whichever unique constraint it shares with the new row.
        case keep
    }

    package struct Counts: Hashable, Sendable {
        package var inserted = 0
        package var updated = 0
        package var unchanged = 0
    }

    private let schema: Schema
    private let item: ClassSchema
    private let sql: String

    package init(_ schema: Schema, classIndex: Int, existing: Existing) {
        self.schema = schema
        item = schema[classIndex]
        let quoted = item.columns.map { PostgresSQL.quoteIdentifier($0.sqlName) }
        let table = PostgresSQL.quoteIdentifier(item.table)
        let values = item.columns.enumerated().map { index, column in
            "$\(index + 1)::\(SQLDialect.postgresql.castType(of: schema.storedType(of: column)))[]"
        }
        let key = PostgresSQL.quoteIdentifier(item.primaryKey?.sqlName ?? "")
        let others = quoted.filter { $0 != key }
        let action: String
        switch existing {
        case .keep: action = "ON CONFLICT DO NOTHING"
        case .update:
            action = """
                ON CONFLICT (\(key)) DO UPDATE SET \(others.map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", "))
                WHERE (\(others.map { "present.\($0)" }.joined(separator: ", ")))
                IS DISTINCT FROM (\(others.map { "EXCLUDED.\($0)" }.joined(separator: ", ")))
                """
        }
        sql = """
            INSERT INTO \(table) AS present (\(quoted.joined(separator: ", ")))
            SELECT * FROM unnest(\(values.joined(separator: ", ")))
            \(action)
            RETURNING xmax = 0
            """
    }

    /// - Parameter progress: called after each statement with the number of rows written so far.
    nonisolated(nonsending) package func write(
        _ rows: [Row], _ connection: PostgresConnection, progress: (Int) -> Void = { _ in }
    ) async throws -> Counts {
        var counts = Counts()
        var start = 0
        while start < rows.count {
            let chunk = rows[start..<min(rows.count, start + Self.maximumRowCount)]
            let parameters = try item.columns.enumerated().map { index, column in
                try PostgresParameter(list: chunk.map { $0[index] }, of: schema.storedType(of: column))
            }
            let result = try await connection.query(sql, parameters)
            var inserted = 0
            for row in result where try row[0].bool { inserted += 1 }
            counts.inserted += inserted
            counts.updated += result.count - inserted
            counts.unchanged += chunk.count - result.count
            start = chunk.endIndex
            progress(start)
        }
        return counts
    }
}
