public import Foundation
internal import PostgresClient
internal import TomboloModel
internal import TomboloRules

extension Authenticator {
    /// Checks e-mail address and password like ``login(email:password:address:device:now:)``, with its limits, and
    /// begins a session of the admin panel: a login session that ends after ``PanelSession/lifetimeSeconds``.
    /// - Returns: the content of the browser's cookie.
    public func beginPanel(
        email: String, password: String, address: String, device: LoginDevice, now: Date = Date()
    ) async throws -> PanelToken {
        let login = try await login(email: email, password: password, address: address, device: device, now: now)
        return try await openPanel(login, now: now)
    }

    /// Begins a panel session for a login.
    func openPanel(_ login: Login, now: Date) async throws -> PanelToken {
        let token = PanelToken()
        try await pool.query(
            """
            WITH shorter AS (
                UPDATE tombolo.login_session SET expires_at = $3::timestamptz + make_interval(secs => $4) WHERE id = $2
            )
            INSERT INTO tombolo.panel_session (token_hash, session_id, created_at, used_at, proved_at)
            VALUES ($1, $2, $3, $3, $3)
            """,
            [
                .bytea(token.hash), .bytea(login.sessionID.bytes), .timestamptz(microseconds: now.microseconds),
                .double(Double(PanelSession.lifetimeSeconds)),
            ])
        return token
    }

    /// The session of a cookie. The database is asked each time, so that anything that ends the login ends the session
    /// at once; roles may be ``roleLifetimeSeconds`` old.
    /// - Throws: ``AuthenticationError/endedSession`` if it has ended: by log-out, revocation, another password, a
    ///   disabled account, or age.
    /// - Parameter isUse: whether the request counts as use, which keeps an idle session from ending.
    public func panelSession(
        _ token: PanelToken, isUse: Bool = true, now: Date = Date()
    ) async throws -> PanelSession {
        let result = try await pool.query(
            """
            SELECT s.id, s.user_id, coalesce(a.email, ''), a.display_name, p.proved_at, p.used_at,
                a.second_factor_at IS NOT NULL, s.second_factor,
                (SELECT v.began_at FROM tombolo.panel_viewing v WHERE v.session_id = s.id AND v.ended_at IS NULL)
            FROM \(Self.panelSessions) WHERE p.token_hash = $4 AND \(Self.panelGoesOn)
            """, Self.panelAges(now) + [.bytea(token.hash)])
        guard let row = result.first, let id = ObjectId(bytes: try row[0].bytes),
            let userID = ObjectId(bytes: try row[1].bytes)
        else { throw AuthenticationError.endedSession }
        if isUse, now.microseconds - (try row[5].timestampMicroseconds) > PanelSession.noteSeconds * 1_000_000 {
            try await noteUse(token, of: id, now: now)
        }
        let hasSecondFactor = try row[6].bool
        let subject: Subject
        do {
            subject = try await self.subject(of: userID)
        } catch AuthenticationError.unknownUser {
            throw AuthenticationError.endedSession
        }
        return PanelSession(
            id: id, userID: userID, subject: subject, email: try row[2].string, displayName: try row[3].string,
            provedAt: Date(microseconds: try row[4].timestampMicroseconds), hasSecondFactor: hasSecondFactor,
            isComplete: try !hasSecondFactor || row[7].bool,
            mustSetUp: !hasSecondFactor && secondFactor.requires(subject),
            viewingSince: try row[8].nonNull?.timestampMicroseconds)
    }

    /// The panel's sessions `p` with their logins `s`, their accounts `a` and the generation `t` of tokens.
    static let panelSessions = """
        tombolo.panel_session p JOIN tombolo.login_session s ON s.id = p.session_id
            JOIN tombolo.account a ON a.id = s.user_id LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
        """
    /// The condition for those of ``panelSessions`` that are live; with ``panelAges(_:)`` as the first parameters.
    static let panelGoesOn = """
        \(LoginSessions.isLive) AND a.disabled_at IS NULL AND s.expires_at > $1
            AND p.created_at > $1::timestamptz - make_interval(secs => $2)
            AND p.used_at > $1::timestamptz - make_interval(secs => $3)
        """
    static func panelAges(_ now: Date) -> [PostgresParameter] {
        [
            .timestamptz(microseconds: now.microseconds), .double(Double(PanelSession.lifetimeSeconds)),
            .double(Double(PanelSession.idleSeconds)),
        ]
    }

    /// Whether a session is still live, even if its cookie has changed.
    public func goesOn(_ session: PanelSession, now: Date = Date()) async throws -> Bool {
        let found = try await pool.query(
            "SELECT 1 FROM \(Self.panelSessions) WHERE s.id = $4 AND \(Self.panelGoesOn)",
            Self.panelAges(now) + [.bytea(session.id.bytes)])
        return !found.isEmpty
    }

    private func noteUse(_ token: PanelToken, of id: ObjectId, now: Date) async throws {
        try await pool.query(
            """
            WITH used AS (UPDATE tombolo.login_session SET last_used_at = greatest(last_used_at, $3) WHERE id = $2)
            UPDATE tombolo.panel_session SET used_at = greatest(used_at, $3) WHERE token_hash = $1
            """, [.bytea(token.hash), .bytea(id.bytes), .timestamptz(microseconds: now.microseconds)])
    }

    /// Records that the session's user has entered the password again, and a code if the account has a second factor.
    /// The session gets a new token, so that a stolen copy of the old one is useless for anything that needs the
    /// password. Password and code are checked within the limits of logins.
    /// - Returns: the new content of the browser's cookie.
    /// - Throws: ``AuthenticationError/wrongCredentials`` for another password, ``AuthenticationError/wrongCode``,
    ///   ``AuthenticationError/endedSession`` if the session has ended, or got another token meanwhile.
    public func proveAgain(
        _ session: PanelSession, _ token: PanelToken, password: String, code: String? = nil, address: String,
        now: Date = Date()
    ) async throws -> PanelToken {
        let account = try await check(email: session.email, password: password, address: address)
        guard account.userID == session.userID else { throw AuthenticationError.wrongCredentials }
        if session.hasSecondFactor {
            try await check(code: code ?? "", of: session.userID, address: address, now: now)
        }
        let renewed = PanelToken()
        let proved = try await pool.query(
            """
            UPDATE tombolo.panel_session SET token_hash = $3, proved_at = $4
            WHERE token_hash = $2 AND session_id = $1 RETURNING 1
            """,
            [
                .bytea(session.id.bytes), .bytea(token.hash), .bytea(renewed.hash),
                .timestamptz(microseconds: now.microseconds),
            ])
        guard !proved.isEmpty else { throw AuthenticationError.endedSession }
        return renewed
    }

    /// Logs out of the panel.
    public func endPanel(_ session: PanelSession, now: Date = Date()) async throws {
        try await endViewing(session)
        try await pool.withConnection {
            _ = try await LoginSessions.end(
                [session.id], of: session.userID, reason: "logged out", now: now.microseconds, $0)
        }
        forget(session.userID)
    }
}
