/// What a pool grants to a request.
enum PostgresGrant<Connection: AnyObject & Sendable>: Sendable {
    /// A connection that was idle or has just been returned.
    case connection(Connection)
    /// Permission to open a connection.
    case slot
}
