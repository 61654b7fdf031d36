internal import Foundation
internal import PostgresClient
internal import TomboloModel

/// The SQL for login sessions and refresh tokens. Times are the caller's, in microseconds since 1970.
enum LoginSessions {
    /// The condition for a session `s` to be live, in an account with the token generation `t`.
    static let isLive = """
        s.revoked_at IS NULL AND s.generation = coalesce(t.generation, 0)
        """

    /// The data for making tokens.
    struct Session: Sendable {
        let id: ObjectId
        let userID: ObjectId
        let deviceID: ObjectId
        let generation: Int64
        let provider: String
    }

    /// Begins a session. It ends the user's session on the same device, if there is one, and their least recently used
    /// one if they have too many.
    static func insert(
        _ session: Session, _ device: LoginDevice, apiKey: ObjectId? = nil, hasSecondFactor: Bool = false,
        token: RefreshToken, now: Int64,
        _ connection: PostgresConnection
    ) async throws {
        let user = PostgresParameter.bytea(session.userID.bytes)
        if let apiKey { try await APIKeys.hold(apiKey, connection) }
        try await connection.query(
            """
            DELETE FROM tombolo.login_session
            WHERE user_id = $1 AND least(revoked_at, expires_at) < $2::timestamptz - make_interval(secs => $3)
            """,
            [user, .timestamptz(microseconds: now), .double(Double(LoginSession.keptSeconds))])
        try await connection.query(
            """
            UPDATE tombolo.login_session SET revoked_at = $3, end_reason = 'replaced'
            WHERE user_id = $1 AND revoked_at IS NULL AND (device_id = $2 OR id IN (
                SELECT id FROM tombolo.login_session WHERE user_id = $1 AND revoked_at IS NULL
                ORDER BY last_used_at DESC OFFSET \(LoginSession.maximumCountOfUser - 1)))
            """,
            [user, .bytea(device.id.bytes), .timestamptz(microseconds: now)])
        do {
            try await connection.query(
                """
                WITH session AS (
                    INSERT INTO tombolo.login_session (id, user_id, generation, provider, api_key, device_id,
                        device_name, device_platform, device_app, created_at, last_used_at, expires_at, second_factor)
                    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $14)
                )
                INSERT INTO tombolo.refresh_token (session_id, family_hash, token_hash) VALUES ($1, $12, $13)
                """,
                [
                    .bytea(session.id.bytes), user, .int64(session.generation), .text(session.provider),
                    .bytea(apiKey?.bytes), .bytea(device.id.bytes), .text(device.name), .text(device.platform),
                    .text(device.app), .timestamptz(microseconds: now), .timestamptz(microseconds: expiry(after: now)),
                    .bytea(token.familyHash), .bytea(token.secretHash), .bool(hasSecondFactor),
                ])
        } catch let error as PostgresError where error.code == .foreignKeyViolation {
            // The account was deleted after its password was checked.
            throw AuthenticationError.wrongCredentials
        }
    }

    /// When a session ends, given when its refresh token was last exchanged.
    static func expiry(after now: Int64) -> Int64 { now + LoginSession.lifetimeSeconds * 1_000_000 }

    /// Exchanges the newest refresh token of a live session.
    /// - Parameter seed: the seed of the next token.
    /// - Returns: nil if nothing was exchanged: the token is no longer the newest, or the session has ended.
    static func exchange(
        _ token: RefreshToken, seed: [UInt8], now: Int64, _ pool: PostgresPool
    ) async throws -> Session? {
        let result = try await pool.query(
            """
            WITH exchanged AS (
                UPDATE tombolo.refresh_token r
                SET token_hash = $3, previous_hash = r.token_hash, successor_seed = $4, exchanged_at = $5, repeats = 0
                FROM tombolo.login_session s JOIN tombolo.account a ON a.id = s.user_id
                    LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
                WHERE r.session_id = $1 AND r.token_hash = $2 AND s.id = r.session_id AND \(isLive)
                    AND s.expires_at > $5 AND a.disabled_at IS NULL
                RETURNING s.id, s.user_id, s.device_id, s.generation, s.provider
            ), used AS (
                UPDATE tombolo.login_session s SET last_used_at = $5, expires_at = $6
                FROM exchanged WHERE s.id = exchanged.id
            )
            SELECT id, user_id, device_id, generation, provider FROM exchanged
            """,
            [
                .bytea(token.sessionID.bytes), .bytea(token.secretHash),
                .bytea(token.successor(seed: seed).secretHash), .bytea(seed), .timestamptz(microseconds: now),
                .timestamptz(microseconds: expiry(after: now)),
            ])
        return try result.first.flatMap { try session($0) }
    }

    private static func session(_ row: PostgresRow) throws -> Session? {
        guard let id = ObjectId(bytes: try row[0].bytes), let userID = ObjectId(bytes: try row[1].bytes),
            let deviceID = ObjectId(bytes: try row[2].bytes)
        else { return nil }
        return Session(
            id: id, userID: userID, deviceID: deviceID, generation: try row[3].int64, provider: try row[4].string)
    }

    /// Handles a refresh token that isn't its session's newest. If its successor was made a moment ago, so that the
    /// answer may have been lost, this returns the successor's seed. Otherwise the session ends, because the token was
    /// copied.
    /// - Returns: nil if the session had ended or never existed; no seed if it ends now.
    static func repeatExchange(
        _ token: RefreshToken, now: Int64, _ pool: PostgresPool
    ) async throws -> (session: Session, seed: [UInt8]?)? {
        try await pool.transaction { connection in
            let result = try await connection.query(
                """
                SELECT s.id, s.user_id, s.device_id, s.generation, s.provider,
                    r.previous_hash IS NOT DISTINCT FROM $3 AND r.repeats < \(RefreshGrace.maximumRepeats)
                        AND $4::timestamptz - r.exchanged_at <= make_interval(secs => \(RefreshGrace.seconds)),
                    r.token_hash = $3, r.successor_seed
                FROM tombolo.refresh_token r JOIN tombolo.login_session s ON s.id = r.session_id
                    JOIN tombolo.account a ON a.id = s.user_id
                    LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
                WHERE r.session_id = $1 AND r.family_hash = $2 AND \(isLive) AND s.expires_at > $4
                    AND a.disabled_at IS NULL
                FOR UPDATE OF r
                """,
                [
                    .bytea(token.sessionID.bytes), .bytea(token.familyHash), .bytea(token.secretHash),
                    .timestamptz(microseconds: now),
                ])
            guard let row = result.first, let session = try session(row), try !row[6].bool else { return nil }
            guard try row[5].bool, let seed = try row[7].nonNull?.bytes else {
                try await end([token.sessionID], of: session.userID, reason: "token reused", now: now, connection)
                return (session, nil)
            }
            try await connection.query(
                "UPDATE tombolo.refresh_token SET repeats = repeats + 1 WHERE session_id = $1",
                [.bytea(token.sessionID.bytes)])
            return (session, seed)
        }
    }

    /// Ends the session of a refresh token, whichever of the session's tokens it is.
    /// - Returns: the session's user, or nil if there never was such a session.
    static func end(_ token: RefreshToken, now: Int64, _ pool: PostgresPool) async throws -> ObjectId? {
        let result = try await pool.query(
            """
            UPDATE tombolo.login_session s SET revoked_at = coalesce(s.revoked_at, $3),
                end_reason = coalesce(s.end_reason, 'logged out')
            FROM tombolo.refresh_token r WHERE r.session_id = s.id AND s.id = $1 AND r.family_hash = $2 RETURNING s.user_id
            """,
            [.bytea(token.sessionID.bytes), .bytea(token.familyHash), .timestamptz(microseconds: now)])
        return try result.first.flatMap { ObjectId(bytes: try $0[0].bytes) }
    }

    /// Ends sessions of a user; other ids are ignored.
    /// - Returns: how many ended.
    @discardableResult
    static func end(
        _ ids: [ObjectId], of userID: ObjectId, reason: String, now: Int64, _ connection: PostgresConnection
    ) async throws -> Int {
        try await connection.query(
            """
            UPDATE tombolo.login_session SET revoked_at = $3, end_reason = $4
            WHERE user_id = $1 AND id = ANY ($2) AND revoked_at IS NULL RETURNING id
            """,
            [
                .bytea(userID.bytes), .byteaArray(ids.map(\.bytes)), .timestamptz(microseconds: now), .text(reason),
            ]
        ).count
    }

    /// Ends all sessions of a user except one.
    static func endAll(
        of userID: ObjectId, but kept: ObjectId? = nil, reason: String, now: Int64, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            UPDATE tombolo.login_session SET revoked_at = $3, end_reason = $4
            WHERE user_id = $1 AND id IS DISTINCT FROM $2 AND revoked_at IS NULL
            """,
            [.bytea(userID.bytes), .bytea(kept?.bytes), .timestamptz(microseconds: now), .text(reason)])
    }

    /// The live sessions of a user, most recently used first.
    static func live(of userID: ObjectId, now: Int64, _ pool: PostgresPool) async throws -> [LoginSession] {
        let result = try await pool.query(
            """
            SELECT s.id, s.device_id, s.device_name, s.device_platform, s.device_app, s.provider, s.created_at,
                s.last_used_at
            FROM tombolo.login_session s LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
            WHERE s.user_id = $1 AND \(isLive) AND s.expires_at > $2 ORDER BY s.last_used_at DESC, s.id DESC
            """, [.bytea(userID.bytes), .timestamptz(microseconds: now)])
        return try result.compactMap { row in
            guard let id = ObjectId(bytes: try row[0].bytes), let deviceID = ObjectId(bytes: try row[1].bytes) else {
                return nil
            }
            return LoginSession(
                id: id,
                device: LoginDevice(
                    id: deviceID, name: try row[2].nonNull?.string, platform: try row[3].nonNull?.string,
                    app: try row[4].nonNull?.string),
                provider: try row[5].string, createdAt: Date(microseconds: try row[6].timestampMicroseconds),
                lastUsedAt: Date(microseconds: try row[7].timestampMicroseconds))
        }
    }
}

extension Date {
    /// Since 1970.
    var microseconds: Int64 { Int64((timeIntervalSince1970 * 1_000_000).rounded()) }

    init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
