import PostgresClient
import PostgresValues
import TomboloModel
import TomboloSQL

/// Searches the trash by group, oldest first.
package struct TrashQueue: Sendable {
    /// Where a search continues: after this time and address.
    package struct Cursor: Hashable, Sendable {
        let microseconds: Int64
        let address: String

        init(microseconds: Int64, address: String) {
            self.microseconds = microseconds
            self.address = address
        }

        /// Nil for text that isn't from ``text``.
        package init?(_ text: String) {
            let parts = text.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, let time = Int64(parts[0]), (try? TrashAddress(String(parts[1]))) != nil else {
                return nil
            }
            self.init(microseconds: time, address: String(parts[1]))
        }

        var text: String { "\(microseconds).\(address)" }
    }

    /// A group, or a single object without a group.
    struct Entry: Hashable, Sendable {
        let address: String
        let microseconds: Int64
        let count: Int

        var cursor: Cursor { Cursor(microseconds: microseconds, address: address) }
    }

    let schema: Schema

    /// One of the classes to search: an additional condition on its rows, and the SQL of the time that counts for
    /// them.
    struct Part: Sendable {
        let className: String
        var filter = Predicate.constant(true)
        var time = Trash.readableTime("o.trashed_at")
    }

    /// - Parameters:
    ///   - until: the latest time of a group to include, where a group's time is the latest of its rows; nil for any.
    ///   - condition: a condition on the group's address `g`, in SQL.
    nonisolated(nonsending) func entries(
        _ parts: [Part], after cursor: Cursor?, until: Int64? = nil, condition: String = "true", limit: Int,
        _ connection: PostgresConnection
    ) async throws -> [Entry] {
        var parameters: [PostgresParameter] = [
            .timestamptz(microseconds: until), .timestamptz(microseconds: cursor?.microseconds), .text(cursor?.address),
        ]
        var selects: [String] = []
        for part in parts {
            guard let item = schema[part.className] else { continue }
            let filter = try part.filter.sql(
                .postgresql, className: part.className, in: schema, alias: "o", firstParameter: parameters.count + 1)
            parameters += try filter.parameters.map { try PostgresParameter($0) }
            selects.append(
                """
                SELECT \(Trash.address(item)) AS g, \(part.time) AS t FROM \(PostgresSQL.quoteIdentifier(item.table)) o
                WHERE o.trashed_at IS NOT NULL AND \(filter.sql)
                """)
        }
        guard !selects.isEmpty else { return [] }
        let found = try await connection.query(
            """
            SELECT x.g, max(x.t), count(*)::int FROM (
            \(selects.joined(separator: "\nUNION ALL\n"))
            ) x WHERE \(condition) GROUP BY x.g
            HAVING ($1::timestamptz IS NULL OR max(x.t) <= $1)
                AND ($2::timestamptz IS NULL OR (max(x.t), x.g) > ($2, $3::text COLLATE "C"))
            ORDER BY max(x.t), x.g LIMIT \(limit)
            """, parameters)
        return try found.map {
            Entry(
                address: try $0[0].string, microseconds: try $0[1].timestampMicroseconds, count: try $0[2].int)
        }
    }
}
