internal import Synchronization

/// Keeps a listener active until ``invalidate()`` is called or the token is released. It also keeps the Realm open.
public final class NotificationToken: @unchecked Sendable {
    // `registration` is accessed only under the lock; its content only in the Realm's own place.
    let state: ObservationState
    private let registration: Mutex<Registration?>

    /// The Realm that knows the listener.
    private struct Registration: @unchecked Sendable {
        let core: RealmCore
    }

    init(_ state: ObservationState, _ core: RealmCore? = nil) {
        self.state = state
        registration = Mutex(core.map(Registration.init))
    }

    /// Records that the listener was added, elsewhere than where the token is.
    /// - Returns: whether it's still wanted.
    func register(_ core: RealmCore) -> Bool {
        let box = Registration(core: core)
        return registration.withLock { registration in
            guard state.isActive else { return false }
            registration = box
            return true
        }
    }

    /// Whether the listener belongs to a Realm.
    func belongs(to core: RealmCore) -> Bool { registration.withLock { $0?.core === core } }

    deinit { invalidate() }

    /// Ends notifications, from any thread. Afterwards no callback is called; one that is already running finishes.
    public func invalidate() {
        guard state.end() else { return }
        let last = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        // If the Realm is elsewhere, its listener is released there, and the Realm too if this was its last user.
        last?.core.letGo()
    }
}
