/// What a `PostgresListener` reports.
public enum PostgresListenerEvent: Sendable, Hashable {
    /// The listener is listening. Anything may have happened before, so read the current state from the database. Comes
    /// first, after every reconnect, and if notifications were dropped because nobody read them.
    case connected
    case notification(channel: String, payload: String)
}
