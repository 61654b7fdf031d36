package import PostgresClient
package import TomboloModel

/// Writes many rows of a class with few statements. Rows that are there already change only where they differ, so
/// that writing the same rows again does nothing at all.
package struct RowUpsert: Sendable {
    /// Rows that one statement writes.
    package static let maximumRowCount = 1_000

    package enum Existing: Sendable {
        /// Takes the new values where they differ.
        case update
        /// Stays as it is, whatever unique rule it shares with the new row.
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
            "$\(index + 1)::\(Self.arrayType(schema.storedType(of: column)))"
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
            let parameters = item.columns.enumerated().map { index, column in
                Self.array(schema.storedType(of: column), chunk.map { $0[index] })
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

    private static func arrayType(_ type: PropertyType) -> String {
        switch type {
        case .bool: "boolean[]"
        case .int: "bigint[]"
        case .double: "double precision[]"
        case .string: "text[]"
        case .date: "timestamptz[]"
        case .uuid: "uuid[]"
        case .decimal128: "numeric[]"
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects: "bytea[]"
        }
    }

    private static func array(_ type: PropertyType, _ values: [Value]) -> PostgresParameter {
        switch type {
        case .bool: .boolArray(values.map { if case .bool(let value) = $0 { value } else { nil } })
        case .int: .int64Array(values.map { if case .int(let value) = $0 { value } else { nil } })
        case .double: .doubleArray(values.map { if case .double(let value) = $0 { value } else { nil } })
        case .string: .textArray(values.map { if case .string(let value) = $0 { value } else { nil } })
        case .date:
            .timestamptzArray(microseconds: values.map { if case .date(let value) = $0 { value } else { nil } })
        case .uuid: .uuidArray(values.map { if case .uuid(let value) = $0 { value } else { nil } })
        case .decimal128:
            .numericArray(values.map { if case .decimal(let value) = $0 { value.description } else { nil } })
        case .data, .objectId, .float, .link, .embedded, .array, .list, .linkingObjects:
            .byteaArray(
                values.map { value in
                    switch value {
                    case .objectId(let id): id.bytes
                    case .data(let data): Array(data)
                    default: nil
                    }
                })
        }
    }
}
