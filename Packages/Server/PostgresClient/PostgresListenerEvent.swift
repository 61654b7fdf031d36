/// What a `PostgresListener` reports.
public enum PostgresListenerEvent: Sendable, Hashable {
    /// The listener listens. Anything may have happened before: read the current state from the database. Comes
    /// first, after every reconnect, and when notifications had to be dropped because nobody took them.
    case connected
    case notification(channel: String, payload: String)
}
