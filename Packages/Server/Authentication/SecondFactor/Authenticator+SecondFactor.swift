public import Foundation
internal import PostgresClient
internal import Synchronization
public import TomboloModel

/// The second factor of the admin server: a code of an authenticator app, or a recovery code.
extension Authenticator {
    /// The name that authenticator apps show beside the account.
    private static let issuer = "Tombolo"

    // MARK: Setting up

    /// The second factor of a user, including one that is being set up.
    public func secondFactor(of userID: ObjectId) async throws -> SecondFactor {
        let found = try await pool.query(
            """
            SELECT a.second_factor_at, f.pending, coalesce(a.email, a.display_name),
                (SELECT count(*) FROM tombolo.recovery_code r WHERE r.user_id = a.id AND r.used_at IS NULL)
            FROM tombolo.account a LEFT JOIN tombolo.second_factor f ON f.user_id = a.id WHERE a.id = $1
            """, [.bytea(userID.bytes)])
        guard let row = found.first else { throw AuthenticationError.unknownUser }
        let account = try row[2].string
        let secret = try row[1].nonNull?.bytes
        return SecondFactor(
            since: try row[0].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) },
            recoveryCodesLeft: try row[3].int,
            pending: secret.flatMap { opened($0, of: userID) }.map { code in
                SecondFactor.Pending(
                    secret: Base32.text(code.secret), uri: code.uri(issuer: Self.issuer, account: account))
            })
    }

    /// Begins to set up a second factor. An existing one stays valid until
    /// ``confirmSecondFactor(_:_:code:address:now:)`` replaces it.
    public func beginSecondFactor(of userID: ObjectId) async throws {
        let sealed = try SealedKey.seal(
            Data(TimeCode(secret: .random(count: TimeCode.secretByteCount)).secret).base64EncodedString(),
            id: userID.stringValue, purpose: SealedKey.secondFactor, secret: tokens.secret)
        try await pool.query(
            """
            INSERT INTO tombolo.second_factor (user_id, pending) VALUES ($1, $2)
            ON CONFLICT (user_id) DO UPDATE SET pending = EXCLUDED.pending
            """, [.bytea(userID.bytes), .bytea(sealed)])
    }

    /// Completes the setup with a code of the new secret. From then on it counts.
    /// - Returns: recovery codes, which can't be shown again, and the new content of the browser's cookie.
    /// - Throws: ``AuthenticationError/wrongCode``, ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``,
    ///   ``AuthenticationError/endedSession``.
    public func confirmSecondFactor(
        _ session: PanelSession, _ token: PanelToken, code: String, address: String, now: Date = Date()
    ) async throws -> (codes: [String], token: PanelToken) {
        try await limitingCodes(of: session.userID, address: address) {
            let found = try await pool.query(
                "SELECT pending FROM tombolo.second_factor WHERE user_id = $1 AND pending IS NOT NULL",
                [.bytea(session.userID.bytes)])
            guard let sealed = try found.first?[0].bytes, let secret = opened(sealed, of: session.userID),
                let step = secret.step(of: RecoveryCode.normalized(code), at: now.microseconds / 1_000_000)
            else { throw AuthenticationError.wrongCode }
            let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode.generate() }
            let renewed = try await pool.transaction { connection in
                // Another window may have restarted the setup meanwhile.
                let confirmed = try await connection.query(
                    """
                    UPDATE tombolo.second_factor SET secret = pending, pending = NULL, last_step = $3
                    WHERE user_id = $1 AND pending = $2 RETURNING 1
                    """, [.bytea(session.userID.bytes), .bytea(sealed), .int64(step)])
                guard !confirmed.isEmpty else { throw AuthenticationError.wrongCode }
                try await connection.query(
                    "UPDATE tombolo.account SET second_factor_at = $2 WHERE id = $1",
                    [.bytea(session.userID.bytes), .timestamptz(microseconds: now.microseconds)])
                try await Self.replaceRecoveryCodes(of: session.userID, codes, connection)
                return try await Self.complete(session, token, connection)
            }
            forget(session.userID)
            tell(.secondFactorSetUp, session.userID, at: now)
            return (codes, renewed)
        }
    }

    /// Makes new recovery codes, which replace the existing ones.
    /// - Returns: the codes, which can't be shown again.
    public func renewRecoveryCodes(of userID: ObjectId) async throws -> [String] {
        let codes = (0..<RecoveryCode.count).map { _ in RecoveryCode.generate() }
        try await pool.transaction { try await Self.replaceRecoveryCodes(of: userID, codes, $0) }
        return codes
    }

    private nonisolated(nonsending) static func replaceRecoveryCodes(
        of userID: ObjectId, _ codes: [String], _ connection: PostgresConnection
    ) async throws {
        try await connection.query("DELETE FROM tombolo.recovery_code WHERE user_id = $1", [.bytea(userID.bytes)])
        try await connection.query(
            "INSERT INTO tombolo.recovery_code (user_id, code_hash) SELECT $1, unnest($2::bytea[])",
            [
                .bytea(userID.bytes),
                .byteaArray(codes.map { RecoveryCode.hash(RecoveryCode.normalized($0)) }),
            ])
    }

    /// Removes the second factor, any setup in progress, and the recovery codes.
    public func removeSecondFactor(of userID: ObjectId, now: Date = Date()) async throws {
        let hadOne = try await SecondFactors.remove(of: userID, pool)
        forget(userID)
        if hadOne { tell(.secondFactorRemoved, userID, at: now) }
    }

    // MARK: Codes

    /// Checks a code for a panel session whose user has entered the password.
    /// - Returns: the new content of the browser's cookie.
    /// - Throws: ``AuthenticationError/wrongCode`` for a wrong or used code;
    ///   ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``; ``AuthenticationError/endedSession``.
    public func giveCode(
        _ session: PanelSession, _ token: PanelToken, code: String, address: String, now: Date = Date()
    ) async throws -> PanelToken {
        try await check(code: code, of: session.userID, address: address, now: now)
        let renewed = try await pool.withConnection { try await Self.complete(session, token, $0) }
        forget(session.userID)
        return renewed
    }

    /// Records that a session has the second factor, and gives it another token. Somebody who knew the earlier token,
    /// or planted it in the browser, must not share what the code opens.
    /// - Throws: ``AuthenticationError/endedSession`` if the session has ended, or got another token meanwhile.
    private nonisolated(nonsending) static func complete(
        _ session: PanelSession, _ token: PanelToken, _ connection: PostgresConnection
    ) async throws -> PanelToken {
        let renewed = PanelToken()
        let completed = try await connection.query(
            """
            WITH renewed AS (
                UPDATE tombolo.panel_session SET token_hash = $3 WHERE token_hash = $2 AND session_id = $1
                RETURNING session_id
            )
            UPDATE tombolo.login_session s SET second_factor = true FROM renewed r WHERE s.id = r.session_id RETURNING 1
            """, [.bytea(session.id.bytes), .bytea(token.hash), .bytea(renewed.hash)])
        guard !completed.isEmpty else { throw AuthenticationError.endedSession }
        return renewed
    }

    /// Checks a code of the account's second factor, if it has one, before an action that outlasts the login: a stolen
    /// token isn't enough for that. The code is used up, whatever happens afterwards.
    /// - Throws: ``AuthenticationError/codeRequired``, ``AuthenticationError/wrongCode``,
    ///   ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``, ``AuthenticationError/unknownUser``.
    func demand(code: String?, of userID: ObjectId, address: String, now: Date) async throws {
        guard let code = try await requiredCode(code, of: userID) else { return }
        try await check(code: code, of: userID, address: address, now: now)
    }

    /// The code to check; nil if the account has no second factor. Servers demand it whatever their
    /// ``SecondFactorPolicy``.
    /// - Throws: ``AuthenticationError/codeRequired``, ``AuthenticationError/unknownUser``.
    func requiredCode(_ code: String?, of userID: ObjectId) async throws -> String? {
        let found = try await pool.query(
            "SELECT second_factor_at IS NOT NULL FROM tombolo.account WHERE id = $1", [.bytea(userID.bytes)])
        guard let row = found.first else { throw AuthenticationError.unknownUser }
        guard try row[0].bool else { return nil }
        guard let code else { throw AuthenticationError.codeRequired }
        return code
    }

    /// Checks a code of the app, or a recovery code, and uses it up.
    func check(code: String, of userID: ObjectId, address: String, now: Date) async throws {
        let code = RecoveryCode.normalized(code)
        try await limitingCodes(of: userID, address: address) {
            let user = PostgresParameter.bytea(userID.bytes)
            guard code.utf8.count == TimeCode.digitCount, code.utf8.allSatisfy({ (48...57).contains($0) }) else {
                let used = try await pool.query(
                    """
                    UPDATE tombolo.recovery_code SET used_at = $3
                    WHERE user_id = $1 AND code_hash = $2 AND used_at IS NULL RETURNING 1
                    """,
                    [user, .bytea(RecoveryCode.hash(code)), .timestamptz(microseconds: now.microseconds)])
                guard !used.isEmpty else { throw AuthenticationError.wrongCode }
                return
            }
            let found = try await pool.query(
                "SELECT secret FROM tombolo.second_factor WHERE user_id = $1 AND secret IS NOT NULL", [user])
            guard let sealed = try found.first?[0].bytes else { throw AuthenticationError.wrongCode }
            guard let secret = opened(sealed, of: userID) else { throw AuthenticationError.unreadableSecondFactor }
            guard let step = secret.step(of: code, at: now.microseconds / 1_000_000) else {
                throw AuthenticationError.wrongCode
            }
            // If two requests have the same code, only one succeeds.
            let taken = try await pool.query(
                """
                UPDATE tombolo.second_factor SET last_step = $2
                WHERE user_id = $1 AND last_step < $2 AND secret = $3 RETURNING 1
                """, [user, .int64(step), .bytea(sealed)])
            guard !taken.isEmpty else { throw AuthenticationError.wrongCode }
        }
    }

    /// Runs the check of a code within the limits of the account and of the address; wrong codes count.
    private nonisolated(nonsending) func limitingCodes<Result>(
        of userID: ObjectId, address: String, _ body: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        try begin(.code, address: address)
        let key = userID.stringValue
        if let seconds = codes.withLock({ $0.begin(key, now: steadySeconds) }) {
            throw AuthenticationError.tooManyAttempts(retryAfterSeconds: seconds)
        }
        let shared = attempts.key(.code, key)
        do {
            let failures = try await attempts.count(of: shared)
            if let failures, let seconds = BackoffSchedule.codes.wait(after: failures.attempts, age: failures.age) {
                throw AuthenticationError.tooManyAttempts(retryAfterSeconds: seconds)
            }
            let result = try await body()
            if failures != nil { try await attempts.forget(shared) }
            codes.withLock { $0.forget(key) }
            actions.withLock { $0.giveBack(.code, address: AddressGroup(address).text) }
            return result
        } catch AuthenticationError.wrongCode {
            try await attempts.addFailure(shared, memorySeconds: BackoffSchedule.codes.memorySeconds)
            throw AuthenticationError.wrongCode
        } catch {
            codes.withLock { $0.giveBack(key) }
            actions.withLock { $0.giveBack(.code, address: AddressGroup(address).text) }
            throw error
        }
    }

    private func opened(_ sealed: [UInt8], of userID: ObjectId) -> TimeCode? {
        SealedKey.open(sealed, id: userID.stringValue, purpose: SealedKey.secondFactor, secret: tokens.secret)
            .flatMap { Data(base64Encoded: $0) }.map { TimeCode(secret: Array($0)) }
    }
}
