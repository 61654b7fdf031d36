internal import Foundation
internal import Synchronization

/// An app's users at one gateway. All ``App``s in the process that keep their users in the same place share it.
final class AppUsers: Sendable {
    private static let all = Mutex<[UserStore: AppUsers]>([:])

    static func shared(_ store: UserStore) -> AppUsers {
        all.withLock { all in
            if let known = all[store] { return known }
            let users = AppUsers(store)
            all[store] = users
            return users
        }
    }

    fileprivate struct State {
        var content: UserStore.Content
        /// The `User` objects handed out so far, by ID.
        var users: [String: User] = [:]
        /// New tokens that couldn't be saved, by user. The server no longer accepts the tokens they replaced.
        var unsaved: [String: Exchange] = [:]
    }

    fileprivate struct Exchange {
        /// The refresh token that was exchanged.
        let replaced: String?
        let login: GatewayClient.Login
    }

    let syncManager = SyncManager()
    let listeners = AccountListeners()
    let store: UserStore
    private let state: Mutex<State>

    /// Reads the kept users, and deletes the files of those who were removed earlier.
    init(_ store: UserStore) {
        self.store = store
        store.deleteDrafts()
        // A user who can't be read counts as logged out.
        var content = store.load() ?? UserStore.Content()
        if !content.removed.isEmpty {
            content = store.exclusively {
                var kept = store.load() ?? content
                let removed = kept.removed
                kept.removed = removed.filter { !Self.deletes(store.folder(ofUser: $0)) }
                if kept.removed != removed { try? store.save(kept) }
                return kept
            }
        }
        state = Mutex(State(content: content))
    }

    // MARK: Asking

    /// The current user. When the current user logs out, the first logged-in user takes their place.
    func current(_ app: App) -> User? {
        state.withLock { state in state.content.currentUser.flatMap { user($0, &state, app) } }
    }

    func all(_ app: App) -> [String: User] {
        state.withLock { state in
            var users: [String: User] = [:]
            for id in state.content.users.map(\.id) { users[id] = user(id, &state, app) }
            return users
        }
    }

    func anonymous(_ app: App) -> User? {
        state.withLock { state in
            state.content.users.first { $0.isLoggedIn && $0.isAnonymous }.flatMap { user($0.id, &state, app) }
        }
    }

    private func user(_ id: String, _ state: inout State, _ app: App) -> User? {
        if let known = state.users[id] { return known }
        guard state.content.users.contains(where: { $0.id == id }) else { return nil }
        let user = User(id: id, app: app)
        state.users[id] = user
        return user
    }

    /// The stored data of a user, or nil once they were removed.
    func kept(_ id: String) -> UserStore.KeptUser? {
        state.withLock { state in state.content.users.first { $0.id == id } }
    }

    /// Describes this device to the server.
    var device: Document {
        var device: Document = ["name": .string(String(ProcessInfo.processInfo.hostName.prefix(90)))]
        #if os(Linux)
            device["platform"] = "Linux"
        #elseif os(macOS)
            device["platform"] = "macOS"
        #else
            device["platform"] = "iOS"
        #endif
        device["app"] = .string(String(ProcessInfo.processInfo.processName.prefix(90)))
        if let id = state.withLock({ $0.content.deviceID }) { device["id"] = .string(id) }
        return device
    }

    // MARK: Changing

    /// Stores a user who logged in and makes them the current one.
    func add(
        _ login: GatewayClient.Login, _ provider: String, account: GatewayClient.Account?, app: App
    ) throws -> User {
        let user = try change { state in
            var kept =
                state.content.users.first { $0.id == login.userID }
                ?? UserStore.KeptUser(
                    id: login.userID, isLoggedIn: true, provider: provider, identities: [], profile: [:],
                    customData: [:])
            kept.isLoggedIn = true
            kept.provider = provider
            kept.take(login)
            if let account { kept.take(account) }
            if kept.identities.isEmpty {
                kept.identities = [UserIdentity(providerType: provider, identifier: login.userID)]
            }
            state.content.put(kept)
            state.content.currentUser = kept.id
            state.content.deviceID = login.deviceID ?? state.content.deviceID
            state.content.removed.removeAll { $0 == kept.id }
            guard let user = self.user(kept.id, &state, app) else { throw AppError(.unknown, "The user was removed.") }
            return user
        }
        for session in SyncSession.sessions(of: user) { session.followLogin() }
        return user
    }

    func makeCurrent(_ user: User) throws { try change { $0.content.currentUser = user.id } }

    /// Adopts the tokens that another process of the app has stored, for a user who is logged in here.
    /// - Returns: whether the stored tokens were different.
    func takeFromDisk(userID: String) -> Bool {
        let contents = state.withLock { state -> (old: UserStore.Content, new: UserStore.Content)? in
            guard let newer = store.load()?.users.first(where: { $0.id == userID }), newer.isLoggedIn,
                newer.refreshToken != nil,
                let kept = state.content.users.first(where: { $0.id == userID }), kept.isLoggedIn,
                kept.refreshToken != newer.refreshToken,
                state.unsaved[userID] == nil || state.unsaved[userID]?.replaced != newer.refreshToken
            else { return nil }
            let old = state.content
            state.unsaved[userID] = nil
            state.content.put(newer)
            return (old, state.content)
        }
        guard let contents else { return false }
        listeners.tell(from: contents.old, to: contents.new)
        return true
    }

    /// Adopts new tokens. If they can't be saved, they're kept in memory only.
    func take(_ login: GatewayClient.Login, userID: String) throws {
        try change(evenIfUnsaved: true) { state in
            guard var kept = state.content.users.first(where: { $0.id == userID }), kept.isLoggedIn else {
                // The user logged out in the meantime, which takes precedence.
                throw AppError(.invalidSession, "The user logged out.")
            }
            // The refresh token that is still in the file.
            let replaced = state.unsaved[userID]?.replaced ?? kept.refreshToken
            state.unsaved[userID] = Exchange(replaced: replaced, login: login)
            kept.take(login)
            state.content.put(kept)
        }
    }

    func take(_ account: GatewayClient.Account, userID: String) throws {
        try change { state in
            guard var kept = state.content.users.first(where: { $0.id == userID }) else { return }
            kept.take(account)
            state.content.put(kept)
        }
    }

    /// Forgets a user's tokens. An anonymous user is removed, because they could never log in again.
    /// - Parameter holding: a refresh token. Nothing changes if the user has a different one, from a later login.
    /// - Returns: the refresh token that the user had.
    @discardableResult
    func logOut(_ id: String, ifHolding holding: String? = nil) throws -> String? {
        try change { state in
            guard var kept = state.content.users.first(where: { $0.id == id }) else { return nil }
            let token = kept.refreshToken
            if let holding, token != holding { return nil }
            if kept.isAnonymous {
                state.remove(id)
            } else {
                kept.isLoggedIn = false
                kept.accessToken = nil
                kept.refreshToken = nil
                kept.expiresAt = nil
                state.content.put(kept)
                state.content.leave(id)
            }
            return token
        }
    }

    /// Forgets a user. Their files are deleted the next time the app starts.
    func remove(_ id: String) throws { try change { $0.remove(id) } }

    /// Deletes a removed user's files now. If that fails, they're deleted the next time the app starts.
    func deleteFiles(of id: String, _ delete: (URL) throws -> Void = FileManager.default.removeItem(at:)) throws {
        guard Self.deletes(store.folder(ofUser: id), delete) else { return }
        try change { state in state.content.removed.removeAll { $0 == id } }
    }

    /// - Returns: whether nothing is left.
    private static func deletes(
        _ folder: URL, _ delete: (URL) throws -> Void = FileManager.default.removeItem(at:)
    ) -> Bool {
        guard FileManager.default.fileExists(atPath: folder.path) else { return true }
        return (try? delete(folder)) != nil
    }

    /// Changes the users both in memory and on disk, or neither. Keeps what other processes of the app have changed.
    /// - Parameter evenIfUnsaved: whether to change memory even if the change can't be saved. Then only what is in
    ///   `unsaved` survives the next change.
    private func change<Result>(evenIfUnsaved: Bool = false, _ body: (inout State) throws -> Result) throws -> Result {
        let (result, old, new) = try store.exclusively {
            try state.withLock { state in
                var draft = state
                let kept = store.load()
                if let kept {
                    draft.content = kept
                    draft.applyUnsaved()
                }
                let result = try body(&draft)
                do {
                    if draft.content != kept { try store.save(draft.content) }
                    draft.unsaved = [:]
                } catch {
                    guard evenIfUnsaved else { throw error }
                }
                let old = state.content
                state = draft
                return (result, old, draft.content)
            }
        }
        listeners.tell(from: old, to: new)
        return result
    }
}

extension AppUsers.State {
    /// Applies the unsaved tokens. Drops those of users who have since logged in or out in another process.
    fileprivate mutating func applyUnsaved() {
        unsaved = unsaved.filter { id, exchange in
            guard var user = content.users.first(where: { $0.id == id }), user.isLoggedIn,
                user.refreshToken == exchange.replaced
            else { return false }
            user.take(exchange.login)
            content.put(user)
            return true
        }
    }

    fileprivate mutating func remove(_ id: String) {
        content.users.removeAll { $0.id == id }
        content.leave(id)
        content.removed.append(id)
        users[id] = nil
    }
}

extension UserStore.Content {
    fileprivate mutating func put(_ user: UserStore.KeptUser) {
        if let index = users.firstIndex(where: { $0.id == user.id }) {
            users[index] = user
        } else {
            users.append(user)
        }
    }

    /// Makes another logged-in user the current one, so that the current user is always logged in.
    fileprivate mutating func leave(_ id: String) {
        if currentUser == id { currentUser = users.first { $0.isLoggedIn && $0.id != id }?.id }
    }
}

extension UserStore.KeptUser {
    /// Whether the tokens on this device are the user's only way to log in.
    var isAnonymous: Bool { identities.count == 1 && identities[0].providerType == "anon-user" }

    fileprivate mutating func take(_ login: GatewayClient.Login) {
        accessToken = login.accessToken
        expiresAt = login.expiresAt
        refreshToken = login.refreshToken
    }

    fileprivate mutating func take(_ account: GatewayClient.Account) {
        identities = account.identities.map {
            UserIdentity(providerType: $0.provider, identifier: $0.identifier)
        }
        profile = account.profile ?? [:]
        if let name = account.name { profile["name"] = profile["name"] ?? .string(name) }
        if let email = account.email { profile["email"] = profile["email"] ?? .string(email) }
        customData = account.customData ?? [:]
    }
}
