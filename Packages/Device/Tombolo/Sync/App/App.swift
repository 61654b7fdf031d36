internal import Foundation
internal import NIOHTTP1
internal import Synchronization
internal import TomboloModel

/// A backend: users log in to it, and their Realms synchronise with it.
///
///     let app = App(id: "listings")
///     let user = try await app.login(credentials: .emailPassword(email: "…", password: "…"))
///
/// Users are kept between launches, so ``currentUser`` is available before any request. `App` instances with the same
/// ID, address and root directory share their users; you may create as many as you like.
public final class App: Sendable {
    /// The backend's ID in this app. Also the name of a folder on the device.
    public let appId: String
    /// How to reach the gateway.
    public let configuration: AppConfiguration
    /// What all of the app's sync sessions share.
    public var syncManager: SyncManager { users.syncManager }
    let users: AppUsers
    var client: GatewayClient { GatewayClient(configuration: configuration) }

    /// Stops the program if the ID is empty.
    public convenience init(id: String, configuration: AppConfiguration? = nil) {
        let configuration = configuration ?? AppConfiguration()
        precondition(!id.isEmpty, "An App needs an ID.")
        self.init(id, configuration, AppUsers.shared(UserStore(appID: id, configuration: configuration)))
        Self.made.withLock { made in
            if !made.contains(where: { $0.id == id && $0.configuration == configuration }) {
                made.append((id, configuration))
            }
        }
    }

    /// The apps that the process has created, in order.
    private static let made = Mutex<[(id: String, configuration: AppConfiguration)]>([])

    /// Finds the app for code that passes only its ID, or nothing. With an ID, it's the first app that the process
    /// created with that ID, or else one with the default configuration. Without an ID, it's the only app; stops the
    /// program if there is none or several.
    package static func known(id: String?) -> App {
        let made = made.withLock { $0 }
        if let id {
            return App(id: id, configuration: made.first { $0.id == id }?.configuration)
        }
        guard let only = made.first else {
            programError("No App exists yet: create one with App(id:) before opening its Realms, or pass an appId.")
        }
        guard made.allSatisfy({ $0.id == only.id }) else {
            let ids = made.map { "'\($0.id)'" }.joined(separator: ", ")
            programError("There are several Apps, \(ids): pass the appId of the one whose Realm you want to open.")
        }
        return App(id: only.id, configuration: only.configuration)
    }

    init(_ id: String, _ configuration: AppConfiguration, _ users: AppUsers) {
        appId = id
        self.configuration = configuration
        self.users = users
    }

    /// The user who last logged in or was switched to. When they log out, another logged-in user becomes the current
    /// one, if there is any.
    public var currentUser: User? { users.current(self) }

    /// The app's users by ID, including those who have logged out, but not those who were removed.
    public var allUsers: [String: User] { users.all(self) }

    /// Registration and passwords.
    public var emailPasswordAuth: EmailPasswordAuth { EmailPasswordAuth(app: self) }

    /// Logs a user in and makes them the current user. If the user is already known, their open Realms resume
    /// synchronising. Logging in as `.anonymous` again returns the anonymous user who is already logged in.
    /// - Throws: ``AppError`` if the login is refused or the gateway can't be reached.
    public func login(credentials: Credentials) async throws -> User {
        if case .accessToken(let token) = credentials {
            let login = GatewayClient.Login(
                accessToken: token, expiresAt: .distantFuture, refreshToken: nil, userID: try Self.subject(of: token))
            return try users.add(login, credentials.provider, account: nil, app: self)
        }
        if case .anonymous = credentials, let user = users.anonymous(self) {
            try users.makeCurrent(user)
            return user
        }
        var body = credentials.body
        body["device"] = .document(users.device)
        let login = try await client.get(GatewayClient.Login.self, .POST, "/login", body)
        let account = try? await client.get(GatewayClient.Account.self, .GET, "/account", token: login.accessToken)
        return try users.add(login, credentials.provider, account: account, app: self)
    }

    /// Logs a user in and calls `completion` with the user or the ``AppError``, on any thread.
    public func login(credentials: Credentials, _ completion: @escaping @Sendable (Result<User, any Error>) -> Void) {
        Task { completion(await result { try await self.login(credentials: credentials) }) }
    }

    /// Makes another logged-in user the current one. All users continue to synchronise. Stops the program if the user
    /// isn't logged in or belongs to another app.
    @discardableResult
    public func `switch`(to user: User) -> User {
        precondition(user.app.users === users, "User '\(user.id)' belongs to another App.")
        precondition(user.isLoggedIn, "User '\(user.id)' isn't logged in: log in before switching to them.")
        try? users.makeCurrent(user)
        return user
    }

    /// Reads the user's ID from a token, for naming local files. The token isn't verified here; the gateway verifies
    /// it.
    private static func subject(of token: String) throws -> String {
        struct Claims: Decodable { var sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else {
            throw AppError(.badRequest, "This is not a JWT: expected three parts separated by dots.")
        }
        var base64 = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        while base64.count % 4 != 0 { base64 += "=" }
        guard let data = Data(base64Encoded: base64), let claims = try? JSONDecoder().decode(Claims.self, from: data)
        else { throw AppError(.badRequest, "The JWT's payload has no 'sub' claim, which must name the user.") }
        // With an empty ID, the user's folder would be the app's.
        guard !claims.sub.isEmpty else {
            throw AppError(.badRequest, "The JWT's 'sub' claim is empty, but it must name the user.")
        }
        return claims.sub
    }
}

/// The outcome of an asynchronous call, for completion handlers.
func result<Value: Sendable>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
    do {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}

/// The error of an asynchronous call, for completion handlers; nil if it succeeded.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}
