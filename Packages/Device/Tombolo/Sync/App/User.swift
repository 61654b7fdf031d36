internal import Foundation
internal import NIOHTTP1
internal import Synchronization

/// A user of an ``App``. May be used from any thread.
public final class User: Sendable {
    /// The user's ID on the server, the same for all of their identities.
    public let id: String
    let app: App
    private let refreshing = Mutex<Task<String, any Error>?>(nil)

    init(id: String, app: App) {
        self.id = id
        self.app = app
    }

    // MARK: State

    private var kept: UserStore.KeptUser? { app.users.kept(id) }

    public enum State: Sendable {
        case loggedOut
        case loggedIn
        /// The user was removed, or was anonymous and logged out. They can't be used any more.
        case removed
    }

    public var state: UserState {
        guard let kept else { return .removed }
        return kept.isLoggedIn ? .loggedIn : .loggedOut
    }

    public var isLoggedIn: Bool { state == .loggedIn }

    /// The ways in which the user can log in, as of the last login or refresh.
    public var identities: [UserIdentity] { kept?.identities ?? [] }

    /// What the server knows about the user, as of the last login or refresh.
    public var profile: UserProfile { UserProfile(metadata: kept?.profile ?? [:]) }

    /// The data that the server's rules see as `%%user.custom_data`, as of the last login or refresh.
    public var customData: Document { kept?.customData ?? [:] }

    /// The token that the gateway accepts, or nil if the user has none. It may have expired; ``refreshCustomData()``
    /// replaces it.
    public var accessToken: String? { kept?.accessToken }

    /// The token that gets new access tokens, or nil if the user has none.
    public var refreshToken: String? { kept?.refreshToken }

    // MARK: Tokens

    /// An access token is replaced once its remaining lifetime is shorter than this.
    static let refreshMargin: TimeInterval = 60

    /// An access token that hasn't expired.
    /// - Throws: ``AppError``, with the code `invalidSession` if the user has to log in again.
    func freshAccessToken() async throws -> String {
        guard let kept, let token = kept.accessToken else { throw notLoggedIn() }
        guard let expiresAt = kept.expiresAt, kept.refreshToken != nil,
            expiresAt.timeIntervalSinceNow < Self.refreshMargin
        else { return token }
        do {
            return try await refreshAccessToken()
        } catch let error as AppError where error.status != 401 && expiresAt > Date() {
            return token
        }
    }

    /// Gets a new access token. Simultaneous callers share one request.
    /// - Throws: ``AppError``. If the server refuses, the user is logged out.
    func refreshAccessToken() async throws -> String {
        let task = refreshing.withLock { known in
            if let known { return known }
            let task = Task {
                defer { refreshing.withLock { $0 = nil } }
                return try await exchangeTokens()
            }
            known = task
            return task
        }
        return try await task.value
    }

    private func exchangeTokens() async throws -> String {
        // Another process of the app may have exchanged the tokens already. Its tokens are valid, and exchanging the
        // old ones again would look like a theft.
        if app.users.takeFromDisk(userID: id), let kept, let token = kept.accessToken, let expiresAt = kept.expiresAt,
            expiresAt.timeIntervalSinceNow > Self.refreshMargin
        {
            return token
        }
        guard let token = kept?.refreshToken else { throw notLoggedIn() }
        do {
            let login = try await app.client.get(GatewayClient.Login.self, .POST, "/session", token: token)
            try app.users.take(login, userID: id)
            if let account = try? await app.client.get(
                GatewayClient.Account.self, .GET, "/account", token: login.accessToken)
            {
                // Use the tokens even if the disk is full.
                try? app.users.take(account, userID: id)
            }
            return login.accessToken
        } catch let error as AppError where error.status == 401 || error.status == 403 {
            // Another login may have happened first.
            if kept?.refreshToken == token {
                let sessions = SyncSession.sessions(of: self)
                // Record the reason first: when a caller sees that the user is logged out, the session already has it.
                let ends = sessions.map { (session: $0, error: $0.endLogin(error.message)) }
                // Report it even if the logout can't be saved.
                var isOver = true
                defer { if isOver { for end in ends { end.session.report(end.error) } } }
                isOver = try endLocally(ifHolding: token) != nil
            }
            throw error
        }
    }

    private func notLoggedIn() -> AppError {
        AppError(.invalidSession, "User '\(id)' isn't logged in: log in again.", status: 401)
    }

    /// Fetches custom data, profile and identities, with a new access token if possible.
    /// - Throws: ``AppError``.
    @discardableResult
    public func refreshCustomData() async throws -> Document {
        if kept?.refreshToken != nil { _ = try await refreshAccessToken() } else { try await fetchAccount() }
        return customData
    }

    /// The same, with a completion handler, which is called on any thread.
    public func refreshCustomData(_ completion: @escaping @Sendable (Result<Document, any Error>) -> Void) {
        Task { completion(await result { try await self.refreshCustomData() }) }
    }

    private func fetchAccount() async throws {
        let token = try await freshAccessToken()
        try app.users.take(
            try await app.client.get(GatewayClient.Account.self, .GET, "/account", token: token), userID: id)
    }

    // MARK: Leaving

    /// Logs the user out. Local data stays on the device, and changes not yet uploaded are uploaded after the next
    /// login. An anonymous user can't log in again and is therefore removed. Has no effect on a user who isn't logged
    /// in.
    /// - Throws: ``AppError`` if the server can't be told. The user is logged out anyway.
    public func logOut() async throws {
        guard isLoggedIn else { return }
        let token = try endLocally()
        for session in SyncSession.sessions(of: self) { await session.settle() }
        if let token { try await app.client.send(.DELETE, "/session", token: token) }
    }

    /// The same, with a completion handler, which is called on any thread. The user is already logged out when this
    /// returns.
    public func logOut(completion: @escaping @Sendable ((any Error)?) -> Void) {
        guard isLoggedIn else { return completion(nil) }
        do {
            let token = try endLocally()
            Task {
                completion(
                    await failure {
                        if let token { try await self.app.client.send(.DELETE, "/session", token: token) }
                    })
            }
        } catch {
            completion(error)
        }
    }

    /// Logs the user out and forgets them. Their Realms, including changes not yet uploaded, are deleted the next time
    /// the app starts.
    /// - Throws: ``AppError`` if the user was already removed, or if the server can't be told. In the second case the
    ///   user is removed anyway.
    public func remove() async throws {
        guard let token = try removeLocally() else { return }
        try await app.client.send(.DELETE, "/session", token: token)
    }

    /// The same, with a completion handler, which is called on any thread.
    public func remove(completion: @escaping @Sendable ((any Error)?) -> Void) {
        Task { completion(await failure { try await self.remove() }) }
    }

    /// Deletes the user's account on the server, then everything on this device that belongs to the user.
    /// - Parameter code: if the account has a second factor (see ``AppError/requiresCode``), a code from the user's
    ///   authenticator app or a recovery code.
    /// - Throws: ``AppError``. Nothing has changed then.
    public func delete(code: String? = nil) async throws {
        guard isLoggedIn else { throw notLoggedIn() }
        try await app.client.send(
            .DELETE, "/account", code.map { ["code": .string($0)] }, token: try await freshAccessToken())
        let sessions = SyncSession.sessions(of: self)
        _ = try removeLocally()
        for session in sessions { session.closeFile() }
        try app.users.deleteFiles(of: id)
    }

    /// The same, with a completion handler, which is called on any thread.
    public func delete(code: String? = nil, completion: @escaping @Sendable ((any Error)?) -> Void) {
        Task { completion(await failure { try await self.delete(code: code) }) }
    }

    /// Stops synchronising and forgets the tokens.
    /// - Parameter holding: a refresh token. Nothing is forgotten if the user has a different one by now.
    /// - Returns: the forgotten refresh token.
    private func endLocally(ifHolding holding: String? = nil) throws -> String? {
        let token = try app.users.logOut(id, ifHolding: holding)
        for session in SyncSession.sessions(of: self) { session.followLogin() }
        return token
    }

    private func removeLocally() throws -> String? {
        guard state != .removed else { throw AppError(.userNotFound, "User '\(id)' has already been removed.") }
        let token = kept?.refreshToken
        try app.users.remove(id)
        for session in SyncSession.sessions(of: self) { session.followLogin() }
        return token
    }

    // MARK: Identities

    /// Gives the user another way to log in. An anonymous user stops being anonymous.
    /// - Parameter code: if the account has a second factor (see ``AppError/requiresCode``), a code from the user's
    ///   authenticator app or a recovery code.
    /// - Returns: this user.
    /// - Throws: ``AppError``, for instance because the identity belongs to another user.
    @discardableResult
    public func linkUser(credentials: Credentials, code: String? = nil) async throws -> User {
        var body = credentials.body
        if let code { body["code"] = .string(code) }
        let account = try await app.client.get(
            GatewayClient.Account.self, .POST, "/link", body, token: try await freshAccessToken())
        try app.users.take(account, userID: id)
        try app.users.makeCurrent(self)
        return self
    }

    /// The same, with a completion handler, which is called on any thread.
    public func linkUser(
        credentials: Credentials, code: String? = nil,
        _ completion: @escaping @Sendable (Result<User, any Error>) -> Void
    ) {
        Task { completion(await result { try await self.linkUser(credentials: credentials, code: code) }) }
    }

    /// The user's API keys.
    public var apiKeysAuth: APIKeyAuth { APIKeyAuth(user: self) }

    /// The sessions of the user's open Realms.
    public var allSessions: [SyncSession] { SyncSession.sessions(of: self) }
}

/// Realm's name for ``User/State``.
public typealias UserState = User.State

extension User: Hashable {
    public static func == (left: User, right: User) -> Bool {
        left.id == right.id && left.app.users === right.app.users
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
