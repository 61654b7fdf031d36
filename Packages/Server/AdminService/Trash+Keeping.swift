import PostgresClient

extension Trash {
    /// The first of some objects in the trash that the app keeps there for now, with its reason, as the app's function
    /// `tombolo.keep_TABLE_in_trash` says.
    /// - Parameter now: microseconds since 1970; nil for the transaction's time.
    nonisolated(nonsending) static func keptByApp(
        of keys: Keys, at now: Int64? = nil, _ connection: PostgresConnection
    ) async throws -> (className: String, key: String, reason: String)? {
        for (name, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let found = try await connection.query(
                """
                SELECT r.key, r.reason FROM (
                    SELECT k AS key, tombolo.kept_in_trash($1, k, coalesce($3::timestamptz, now())) AS reason
                    FROM unnest($2::text[]) AS k OFFSET 0) r
                WHERE r.reason IS NOT NULL LIMIT 1
                """,
                [
                    .text(name), .textArray(keys),
                    now.map { .timestamptz(microseconds: $0) } ?? .null,
                ])
            if let row = found.first { return (name, try row[0].string, try row[1].string) }
        }
        return nil
    }
}
