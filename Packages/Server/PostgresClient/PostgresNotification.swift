/// A notification sent by `NOTIFY channel, 'payload'`.
public struct PostgresNotification: Sendable, Hashable {
    public var channel: String
    public var payload: String
    /// The server process that sent it.
    public var processID: Int32
}
