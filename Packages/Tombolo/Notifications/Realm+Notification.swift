extension Realm {
    /// What a listener of a Realm is told.
    public enum Notification: String, Hashable, Sendable {
        /// The Realm shows another version: its own commit, or a refresh that found somebody else's.
        case didChange
        /// Somebody else committed, and ``Realm/autorefresh`` is off.
        case refreshRequired
    }

    /// Calls `block` after every commit of this Realm, before `write` returns, and when others' changes arrive: when
    /// the Realm refreshes by itself, by ``refresh()``, or by beginning a write transaction.
    /// - Returns: a token; listening ends with it.
    public func observe(_ block: @escaping (Realm.Notification, Realm) -> Void) -> NotificationToken {
        core.confinement.check()
        core.requireLive()
        let token = NotificationToken(ObservationState(), core)
        core.notifier.add(token.state, block)
        return token
    }
}
