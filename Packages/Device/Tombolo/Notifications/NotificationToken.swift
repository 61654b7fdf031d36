internal import Synchronization

/// Keeps a listener listening: until ``invalidate()``, or until nobody holds the token. It also keeps the Realm open.
public final class NotificationToken: @unchecked Sendable {
    // `registration` is only touched under the lock; what is in it, by the Realm's own place.
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

    /// The listener was added, elsewhere than where the token is.
    /// - Returns: whether it is still wanted.
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

    /// Ends listening, from any thread. Nothing is delivered afterwards, but to a callback that is running already.
    public func invalidate() {
        guard state.end() else { return }
        let last = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        // Where the Realm is elsewhere, its listener goes there, and the Realm too if this was its last user.
        last?.core.letGo()
    }
}
