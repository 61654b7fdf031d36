public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloPostgresStore

/// Fills the [audit log](../../../../docs/audit.md) until shutdown. Any number of processes may run one.
public struct AuditService: Service {
    private let follower: AuditFollower

    public init(pool: PostgresPool, logger: Logger) {
        follower = AuditFollower(pool: pool, logger: logger)
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await follower.run() }
    }
}
