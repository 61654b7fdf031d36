internal import Dispatch
internal import Synchronization

/// Ends an observation of an ``App`` or ``User`` when it's invalidated or released.
public final class AccountChangeToken: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }

    /// Ends the observation. A call that is already queued on the main queue is still made.
    public func invalidate() { end() }
}

/// The listeners for changes of an app's users.
final class AccountListeners: Sendable {
    private struct State {
        var next = 0
        /// The listeners, each with the ID of the user it observes, or nil for the app's list of users.
        var blocks: [Int: (user: String?, call: @Sendable () -> Void)] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter user: the ID of a user, or nil for the app.
    func add(_ user: String?, _ call: @escaping @Sendable () -> Void) -> AccountChangeToken {
        let id = state.withLock { state in
            state.next += 1
            state.blocks[state.next] = (user, call)
            return state.next
        }
        return AccountChangeToken { [weak self] in self?.state.withLock { $0.blocks[id] = nil } }
    }

    /// Calls the listeners that a change concerns, on the main queue.
    func tell(from old: UserStore.Content, to new: UserStore.Content) {
        var changed = Set<String?>()
        if old.currentUser != new.currentUser || old.logins != new.logins { changed.insert(nil) }
        for id in Set((old.users + new.users).map(\.id))
        where old.users.first(where: { $0.id == id }) != new.users.first(where: { $0.id == id }) {
            changed.insert(id)
        }
        guard !changed.isEmpty else { return }
        let calls = state.withLock { state in
            state.blocks.sorted { $0.key < $1.key }.filter { changed.contains($0.value.user) }.map(\.value.call)
        }
        if !calls.isEmpty { DispatchQueue.main.async { for call in calls { call() } } }
    }
}

extension UserStore.Content {
    /// The IDs of the known users, and whether they're logged in.
    fileprivate var logins: [String: Bool] {
        Dictionary(users.map { ($0.id, $0.isLoggedIn) }, uniquingKeysWith: { first, _ in first })
    }
}

extension App {
    /// Calls `block` on the main queue after the current user changed or a user logged in, logged out, was logged out
    /// by the server, or was removed.
    /// - Returns: a token. Releasing it ends the calls.
    public func observe(_ block: @escaping @Sendable (App) -> Void) -> AccountChangeToken {
        users.listeners.add(nil) { [self] in block(self) }
    }
}

extension User {
    /// Calls `block` on the main queue after the user's state, tokens, profile or custom data changed.
    /// - Returns: a token. Releasing it ends the calls.
    public func observe(_ block: @escaping @Sendable (User) -> Void) -> AccountChangeToken {
        app.users.listeners.add(id) { [self] in block(self) }
    }
}
