public import PostgresClient
public import ServiceLifecycle

/// Keeps a pool of database connections open while the services after it in their group run.
public struct DatabaseService: Service {
    private let pool: PostgresPool
    private let grace: Duration

    /// How long statements in progress may take at shutdown.
    public static let defaultGrace = Duration.seconds(5)

    public init(_ pool: PostgresPool, grace: Duration = Self.defaultGrace) {
        self.pool = pool
        self.grace = grace
    }

    public func run() async throws {
        try? await gracefulShutdown()
        await pool.shutdown(grace: grace)
    }
}
