extension Realm {
    /// A notification to a listener of a Realm.
    public enum Notification: String, Hashable, Sendable {
        /// The Realm shows another version, after its own commit or a refresh that found a commit by others.
        case didChange
        /// Others committed while ``Realm/autorefresh`` is off.
        case refreshRequired
    }

    /// The block called by ``observe(_:)``.
    public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

    /// Calls `block` after every commit of this Realm, before `write` returns, and when others' changes arrive by
    /// autorefresh, ``refresh()`` or the start of a write transaction. It isn't called for writes by itself or another
    /// listener of this Realm.
    /// - Returns: a token. Releasing it ends the notifications.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        core.confinement.check()
        core.requireLive()
        let token = NotificationToken(ObservationState(), core)
        core.notifier.add(token.state, block)
        return token
    }
}
