internal import Synchronization

/// Keeps a listener active until ``invalidate()`` is called or the token is released. It also keeps the Realm open.
public final class NotificationToken: @unchecked Sendable {
    // `registration` is accessed only under the lock, and its content only in the Realm's own place.
    let state: ObservationState
    private let registration: Mutex<Registration?>

    /// The Realm with the listener.
    private struct Registration: @unchecked Sendable {
        let core: RealmCore
    }

    init(_ state: ObservationState, _ core: RealmCore? = nil) {
        self.state = state
        registration = Mutex(core.map(Registration.init))
    }

    /// Records that the listener was added in a place other than the token's.
    /// - Returns: whether the listener is still wanted.
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

    /// Ends the notifications, from any thread. No callback is called afterwards, but one that is already running
    /// finishes.
    public func invalidate() {
        guard state.end() else { return }
        let last = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        // If the Realm belongs to another place, its listener is released there. So is the Realm, if this was its last
        // user.
        last?.core.letGo()
    }
}
