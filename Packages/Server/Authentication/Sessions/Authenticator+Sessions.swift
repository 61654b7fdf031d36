public import Foundation
internal import PostgresClient
internal import Synchronization
public import TomboloModel

/// Who made a request.
public struct Caller: Hashable, Sendable {
    public let userID: ObjectId
    /// The login session of the request's access token.
    public let sessionID: ObjectId
}

extension Authenticator {
    /// The caller whom an access token identifies.
    /// - Throws: the errors of ``verify(_:now:)``.
    public func caller(_ token: String, now: Date = Date()) async throws -> Caller {
        let content = try await checked(token, now: now).content
        return Caller(userID: content.userID, sessionID: content.sessionID)
    }

    /// Begins a login session for a user who has proved who they are.
    /// - Parameters:
    ///   - generation: the account's token generation when that was checked. If tokens were revoked since then, the new
    ///     ones are revoked too.
    ///   - hasSecondFactor: whether they have also used their second factor.
    func begin(
        _ userID: ObjectId, generation: Int64, provider: String, device: LoginDevice, apiKey: ObjectId? = nil,
        hasSecondFactor: Bool = false, now: Date
    ) async throws -> Login {
        let session = LoginSessions.Session(
            id: .generate(), userID: userID, deviceID: device.id, generation: generation, provider: provider)
        let token = RefreshToken(sessionID: session.id)
        try await pool.transaction { connection in
            try await LoginSessions.insert(
                session, device, apiKey: apiKey, hasSecondFactor: hasSecondFactor, token: token, now: now.microseconds,
                connection)
        }
        return try await login(session, token, now: now)
    }

    private func login(_ session: LoginSessions.Session, _ token: RefreshToken, now: Date) async throws -> Login {
        Login(
            accessToken: try await signer.sign(
                session.userID, session: session.id, generation: session.generation, now: now),
            refreshToken: token.text,
            refreshExpiresAt: Date(microseconds: LoginSessions.expiry(after: now.microseconds)),
            sessionID: session.id, deviceID: session.deviceID, provider: session.provider)
    }

    /// Exchanges a refresh token for the next pair of tokens. Only the newest token of a session can be exchanged.
    /// Using an earlier one ends the session, except within ``RefreshGrace``.
    /// - Parameter address: where the request came from, for the limit on failed attempts.
    /// - Throws: ``AuthenticationError/endedSession``, or the database's error.
    public func refresh(_ text: String, address: String = "", now: Date = Date()) async throws -> Login {
        try begin(.exchange, address: address)
        let login = try await exchange(text, now: now)
        actions.withLock { $0.giveBack(.exchange, address: AddressGroup(address).text) }
        return login
    }

    private func exchange(_ text: String, now: Date) async throws -> Login {
        guard let token = RefreshToken(text) else { throw AuthenticationError.endedSession }
        let seed = [UInt8].random(count: RefreshToken.secretByteCount)
        if let session = try await LoginSessions.exchange(token, seed: seed, now: now.microseconds, pool) {
            return try await login(session, token.successor(seed: seed), now: now)
        }
        guard let (session, seed) = try await LoginSessions.repeatExchange(token, now: now.microseconds, pool) else {
            throw AuthenticationError.endedSession
        }
        guard let seed else {
            forget(session.userID)
            throw AuthenticationError.endedSession
        }
        return try await login(session, token.successor(seed: seed), now: now)
    }

    /// Logs out: ends the session of a refresh token, if it's still live.
    /// - Throws: ``AuthenticationError/endedSession`` for text that never was a refresh token.
    public func logOut(_ text: String, now: Date = Date()) async throws {
        guard let token = RefreshToken(text),
            let userID = try await LoginSessions.end(token, now: now.microseconds, pool)
        else { throw AuthenticationError.endedSession }
        forget(userID)
    }

    /// A user's logins, most recently used first.
    public func sessions(of userID: ObjectId, now: Date = Date()) async throws -> [LoginSession] {
        try await LoginSessions.live(of: userID, now: now.microseconds, pool)
    }

    /// Ends one of a user's logins.
    /// - Throws: ``AuthenticationError/noSuchSession`` if the user has no such login.
    public func endSession(_ id: ObjectId, of userID: ObjectId, now: Date = Date()) async throws {
        let count = try await pool.withConnection {
            try await LoginSessions.end([id], of: userID, reason: "ended by the user", now: now.microseconds, $0)
        }
        guard count == 1 else { throw AuthenticationError.noSuchSession }
        forget(userID)
    }

    /// Ends all of a user's logins except one.
    public func endSessions(of userID: ObjectId, but kept: ObjectId? = nil, now: Date = Date()) async throws {
        try await pool.withConnection {
            try await LoginSessions.endAll(
                of: userID, but: kept, reason: "ended by the user", now: now.microseconds, $0)
        }
        forget(userID)
    }
}
