public import Foundation
import TomboloLocalization
internal import PostgresClient
internal import TomboloModel

extension Authenticator {
    /// Replaces the password of a user who knows it, and has a code of the second factor if the account has one: a
    /// stolen password alone can't lock its owner out. All other logins end; this one gets new tokens.
    /// - Throws: ``AuthenticationError/wrongCredentials``, ``AuthenticationError/invalidPassword(reason:)``,
    ///   ``AuthenticationError/codeRequired``, ``AuthenticationError/wrongCode``.
    public func changePassword(
        of caller: Caller, from current: String, to password: String, code: String? = nil, address: String = "",
        now: Date = Date()
    ) async throws -> Login {
        let details = try await Accounts.details(caller.userID, pool)
        let email = details?.email ?? ""
        try validate(password, replacing: current, of: PasswordOwner(email: email, name: details?.name ?? ""))
        let code = try await requiredCode(code, of: caller.userID)
        let account = try await check(email: email, password: current, address: address)
        guard account.userID == caller.userID else { throw AuthenticationError.wrongCredentials }
        if let code { try await check(code: code, of: caller.userID, address: address, now: now) }
        return try await replacePassword(account.hash, of: caller, with: password, address: address, now: now)
    }

    /// Replaces the password of a panel session's user, who knows it, and has a code of the second factor if the
    /// account has one. All logins end; the browser goes on with a new session.
    /// - Returns: the new content of the browser's cookie.
    /// - Throws: ``AuthenticationError/wrongCredentials``, ``AuthenticationError/wrongCode``,
    ///   ``AuthenticationError/invalidPassword(reason:)``.
    public func changePassword(
        in session: PanelSession, from current: String, to password: String, code: String = "", address: String,
        now: Date = Date()
    ) async throws -> PanelToken {
        try validate(
            password, replacing: current, of: PasswordOwner(email: session.email, name: session.displayName))
        let account = try await check(email: session.email, password: current, address: address)
        guard account.userID == session.userID else { throw AuthenticationError.wrongCredentials }
        if session.hasSecondFactor { try await check(code: code, of: session.userID, address: address, now: now) }
        let caller = Caller(userID: session.userID, sessionID: session.id)
        let login = try await replacePassword(account.hash, of: caller, with: password, address: address, now: now)
        return try await openPanel(login, now: now)
    }

    private func validate(
        _ password: String, replacing current: String, of owner: PasswordOwner
    ) throws(AuthenticationError) {
        try accounts.validate(password: password, of: owner)
        guard password != current else { throw .invalidPassword(reason: localized("it is your current password.")) }
    }

    /// - Parameter checked: the hash of the password that the caller entered. Checking it took a while: it fails if
    ///   somebody else has replaced the password meanwhile, or ended the caller's login.
    /// - Returns: the login that replaces the caller's, on the same device. It counts as made with a second factor if
    ///   the caller's did.
    private func replacePassword(
        _ checked: PasswordHash?, of caller: Caller, with password: String, address: String, now: Date
    ) async throws -> Login {
        let device = try await sessions(of: caller.userID, now: now).first { $0.id == caller.sessionID }?.device
        let hash = try await hasher.hash(password, lane: AddressGroup(address).text)
        let (generation, hasSecondFactor) = try await pool.transaction { connection in
            let key = try await connection.query(
                "SELECT key FROM tombolo.credential WHERE user_id = $1 FOR UPDATE", [.bytea(caller.userID.bytes)])
            guard try key.first?[0].bytes == checked?.key else { throw AuthenticationError.wrongCredentials }
            let session = try await connection.query(
                """
                SELECT s.second_factor FROM tombolo.login_session s
                    LEFT JOIN tombolo.token_generation t ON t.user_id = s.user_id
                WHERE s.id = $1 AND s.expires_at > $2 AND \(LoginSessions.isLive)
                """, [.bytea(caller.sessionID.bytes), .timestamptz(microseconds: now.microseconds)])
            guard let session = session.first else { throw AuthenticationError.endedSession }
            try await Accounts.setPassword(hash, of: caller.userID, connection)
            let generation = try await Accounts.revokeTokens(of: caller.userID, connection)
            return (generation, try session[0].bool)
        }
        forget(caller.userID)
        tell(.passwordChanged, caller.userID, at: now)
        return try await begin(
            caller.userID, generation: generation, provider: Provider.emailPassword, device: device ?? LoginDevice(),
            hasSecondFactor: hasSecondFactor, now: now)
    }
}
