/// What a pool gives to a request.
enum PostgresGrant<Connection: AnyObject & Sendable>: Sendable {
    /// A connection, idle or from its last user.
    case connection(Connection)
    /// Permission to open a connection.
    case slot
}
