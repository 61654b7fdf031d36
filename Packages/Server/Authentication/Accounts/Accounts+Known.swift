import PostgresClient
import TomboloModel
import TomboloRules

extension Accounts {
    /// What the database currently says about some users, all from one snapshot. Each user has their own result, since
    /// unreadable data of one is no reason to refuse the others. Users without an account, or with a disabled one, are
    /// left out.
    static func known(_ userIDs: Set<ObjectId>, grants sources: [GrantSource], _ pool: PostgresPool) async throws
        -> [ObjectId: Result<KnownAccount, any Error>]
    {
        let (sql, parameters) = knownQuery(userIDs, grants: sources)
        return try known(try await pool.query(sql, parameters), grants: sources)
    }

    /// The same as seen by the caller's transaction.
    nonisolated(nonsending) static func known(
        _ userIDs: Set<ObjectId>, grants sources: [GrantSource], _ connection: PostgresConnection
    ) async throws -> [ObjectId: Result<KnownAccount, any Error>] {
        let (sql, parameters) = knownQuery(userIDs, grants: sources)
        return try known(try await connection.query(sql, parameters), grants: sources)
    }

    /// The same for one user, whose account may be disabled; nil if there is none.
    static func evenDisabled(
        _ userID: ObjectId, grants sources: [GrantSource], _ pool: PostgresPool
    ) async throws -> KnownAccount? {
        let (sql, parameters) = knownQuery([userID], grants: sources, evenDisabled: true)
        return try known(try await pool.query(sql, parameters), grants: sources)[userID]?.get()
    }

    private static func knownQuery(
        _ userIDs: Set<ObjectId>, grants sources: [GrantSource], evenDisabled: Bool = false
    ) -> (sql: String, parameters: [PostgresParameter]) {
        let none = "SELECT NULL::text AS role, NULL::text AS scope, 0 AS source WHERE false"
        let grantQueries = ([none] + sources.enumerated().map { $1.query(position: $0) }).joined(
            separator: "\nUNION ALL ")
        let sql = """
            SELECT a.id, a.email, a.display_name, a.custom_data::text, coalesce(t.generation, 0),
                g.role, g.scope, g.source,
                ARRAY(SELECT s.id FROM tombolo.login_session s WHERE s.user_id = a.id AND \(LoginSessions.isLive)),
                a.verified_at IS NOT NULL, a.second_factor_at IS NOT NULL,
                ARRAY(SELECT s.id FROM tombolo.login_session s
                    WHERE s.user_id = a.id AND s.second_factor AND \(LoginSessions.isLive))
            FROM tombolo.account a LEFT JOIN tombolo.token_generation t ON t.user_id = a.id
                LEFT JOIN LATERAL (
            \(grantQueries)
                ) g ON true
            WHERE a.id = ANY ($1) AND \(evenDisabled ? "true" : "a.disabled_at IS NULL")
            """
        return (sql, [.byteaArray(userIDs.map(\.bytes))])
    }

    private static func known(
        _ result: PostgresResult, grants sources: [GrantSource]
    ) throws -> [ObjectId: Result<KnownAccount, any Error>] {
        var rows: [ObjectId: [PostgresRow]] = [:]
        for row in result {
            guard let userID = ObjectId(bytes: try row[0].bytes) else { continue }
            rows[userID, default: []].append(row)
        }
        return Dictionary(
            uniqueKeysWithValues: rows.map { userID, rows in
                (userID, Result { try account(userID, rows, grants: sources) })
            })
    }

    /// - Parameter rows: one for each grant, or a single one if there are no grants.
    private static func account(
        _ userID: ObjectId, _ rows: [PostgresRow], grants sources: [GrantSource]
    ) throws -> KnownAccount {
        let first = rows[0]
        var grants: Set<RoleGrant> = []
        for row in rows {
            guard let role = try row[5].nonNull?.string else { continue }
            var scope: Value?
            if let text = try row[6].nonNull?.string {
                guard let key = sources[try row[7].int].scope(text) else { continue }
                scope = key
            }
            grants.insert(RoleGrant(role: Role(role), scope: scope))
        }
        return KnownAccount(
            userID: userID, email: try first[1].nonNull?.string, displayName: try first[2].string,
            isVerified: try first[9].bool, customData: try customData(first[3].string), generation: try first[4].int64,
            grants: grants,
            sessions: try ids(first[8]), hasSecondFactor: try first[10].bool, provenSessions: try ids(first[11]))
    }

    private static func ids(_ cell: PostgresCell) throws -> Set<ObjectId> {
        Set(try cell.bytesArray.compactMap { $0.flatMap { ObjectId(bytes: $0) } })
    }
}
