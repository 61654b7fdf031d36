extension Realm {
    /// What a listener of a Realm is told.
    public enum Notification: String, Hashable, Sendable {
        /// The Realm shows another version: its own commit, or a refresh that found somebody else's.
        case didChange
        /// Somebody else committed, and ``Realm/autorefresh`` is off.
        case refreshRequired
    }

    /// What ``observe(_:)`` calls.
    public typealias NotificationBlock = (_ notification: Notification, _ realm: Realm) -> Void

    /// Calls `block` after every commit of this Realm, before `write` returns, and when others' changes arrive: when
    /// the Realm refreshes by itself, by ``refresh()``, or by beginning a write transaction. What the block itself, or
    /// another one of this Realm, writes meanwhile is not told.
    /// - Returns: a token; listening ends with it.
    public func observe(_ block: @escaping NotificationBlock) -> NotificationToken {
        core.confinement.check()
        core.requireLive()
        let token = NotificationToken(ObservationState(), core)
        core.notifier.add(token.state, block)
        return token
    }
}
