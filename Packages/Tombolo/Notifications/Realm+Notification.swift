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
        NotificationToken(core: core, id: core.addObserver(block))
    }
}

/// Keeps a listener listening: until ``invalidate()``, or until nobody holds the token.
public final class NotificationToken {
    private weak var core: RealmCore?
    private let id: Int

    init(core: RealmCore, id: Int) {
        self.core = core
        self.id = id
    }

    deinit { invalidate() }

    /// Ends listening. Nothing is delivered afterwards. Where the Realm may be used.
    public func invalidate() {
        core?.removeObserver(id)
        core = nil
    }
}
