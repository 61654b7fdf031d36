public import PostgresClient

extension PostgresPool.Options {
    /// Options for a pool that waits for a connection as long as a test may take.
    public static func patient(_ maximumConnections: Int) -> Self {
        Self(maximumConnections: maximumConnections, acquireTimeout: .seconds(600))
    }
}
