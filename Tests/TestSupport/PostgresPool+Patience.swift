public import PostgresClient

extension PostgresPool.Options {
    /// Of a pool whose borrowers wait for connections for as long as a test may take.
    public static func patient(_ maximumConnections: Int) -> Self {
        Self(maximumConnections: maximumConnections, acquireTimeout: .seconds(600))
    }
}
