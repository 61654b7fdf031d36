internal import Foundation
internal import Logging
internal import PostgresClient
internal import ServiceLifecycle
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloPostgresStore

/// Periodically drops the changelog rows that are no longer needed, until shutdown.
struct RetentionService: Service {
    private let pool: PostgresPool
    private let retention: ChangelogRetention

    init(pool: PostgresPool, logger: Logger) {
        self.pool = pool
        retention = ChangelogRetention(configuration: pool.configuration, logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await retention.runPeriodically(in: pool) { Stamp(microseconds: Date().microsecondsSince1970) }
        }
    }
}
