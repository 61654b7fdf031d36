package import PostgresClient
import TomboloModel

/// The devices that sync, as the database knows them: each has a row from its first session on.
package struct SyncDevices: Sendable {
    package static let pageSize = 50

    package struct Device: Hashable, Sendable {
        /// As in logs and in the gateway's inspector.
        package let id: String
        /// The account's id.
        package let userID: String
        /// Nil if the account no longer exists.
        package let userName: String?
        /// In microseconds since 1970.
        package let openedAt: Int64
        /// Accurate to the day at least.
        package let seenAt: Int64
        /// The number of changesets that were applied.
        package let uploadCount: Int64
    }

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// The names of users, or their addresses if they have no name.
    /// - Parameter ids: the accounts' ids in hexadecimal. Ids without an account are left out.
    package func names(of ids: Set<String>) async throws -> [String: String] {
        guard !ids.isEmpty else { return [:] }
        let found = try await pool.query(
            """
            SELECT encode(id, 'hex'), coalesce(nullif(display_name, ''), email) FROM tombolo.account
            WHERE id = ANY ($1) AND coalesce(nullif(display_name, ''), email) IS NOT NULL
            """, [.byteaArray(ids.compactMap { (try? ObjectId(string: $0))?.bytes })])
        return Dictionary(
            try found.map { (try $0[0].string, try $0[1].string) }, uniquingKeysWith: { first, _ in first })
    }

    /// The devices, most recently seen first.
    /// - Parameters:
    ///   - user: only devices of this account.
    ///   - number: from 1.
    package func page(_ number: Int, of user: String? = nil) async throws -> (devices: [Device], hasMore: Bool) {
        let found = try await pool.query(
            """
            SELECT c.id, c.user_id, a.display_name, c.opened_at, c.seen_at, c.last FROM tombolo.client c
                LEFT JOIN tombolo.account a
                ON a.id = CASE WHEN c.user_id ~ '^[0-9a-f]{24}$' THEN decode(c.user_id, 'hex') END
            WHERE $1::text IS NULL OR c.user_id = $1 ORDER BY c.seen_at DESC, c.id
            LIMIT \(Self.pageSize + 1) OFFSET \((number - 1) * Self.pageSize)
            """, [.text(user)])
        let devices = try found.prefix(Self.pageSize).map { row in
            Device(
                id: String(try row[0].int64, radix: 36), userID: try row[1].string,
                userName: try row[2].nonNull?.string, openedAt: try row[3].timestampMicroseconds,
                seenAt: try row[4].timestampMicroseconds, uploadCount: try row[5].int64)
        }
        return (devices, found.count > Self.pageSize)
    }
}
