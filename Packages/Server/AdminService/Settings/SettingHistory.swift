package import PostgresClient
package import TomboloModel

/// The table `tombolo.setting`: what super administrators changed in the panel. Rows are only ever added.
package struct SettingHistory: Sendable {
    package struct Change: Sendable {
        /// Greater than those of earlier changes of the same setting.
        package let number: Int64
        /// Nil for a return to the default.
        package let value: String?
        /// Nil if the account no longer exists.
        package let userName: String?
        /// Microseconds since 1970.
        package let time: Int64
    }

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The newest change of each setting that was ever changed.
    package func newest() async throws -> [ChangeableSetting: Change] {
        let found = try await pool.query(
            """
            SELECT DISTINCT ON (s.name) s.name, s.number, s.value, coalesce(nullif(a.display_name, ''), a.email), s.at
            FROM tombolo.setting s LEFT JOIN tombolo.account a ON a.id = s.user_id ORDER BY s.name, s.number DESC
            """)
        var changes: [ChangeableSetting: Change] = [:]
        for row in found {
            guard let setting = ChangeableSetting(name: try row[0].string) else { continue }
            changes[setting] = Change(
                number: try row[1].int64, value: try row[2].nonNull?.string, userName: try row[3].nonNull?.string,
                time: try row[4].timestampMicroseconds)
        }
        return changes
    }

    /// Adds a change, which takes effect at every server once it reads the table.
    /// - Parameters:
    ///   - value: a value that ``ChangeableSetting/problem(with:)`` accepts; nil to return to the default.
    ///   - number: the newest change that the user has seen; 0 for none.
    /// - Returns: whether it was added. It isn't if there is a newer change than the user has seen.
    package func add(
        _ value: String?, for setting: ChangeableSetting, after number: Int64, by user: ObjectId
    ) async throws -> Bool {
        try await pool.transaction { connection in
            let added = try await connection.query(
                """
                INSERT INTO tombolo.setting (name, number, value, shown, user_id)
                SELECT $1::text, $2::bigint + 1, $3::text, $4::text, $5::bytea
                WHERE $2::bigint = (SELECT coalesce(max(number), 0) FROM tombolo.setting WHERE name = $1::text)
                ON CONFLICT DO NOTHING RETURNING number
                """,
                [
                    .text(setting.name), .int64(number), .text(value), .text(value.map(setting.shown)),
                    .bytea(user.bytes),
                ])
            return !added.isEmpty
        }
    }
}
