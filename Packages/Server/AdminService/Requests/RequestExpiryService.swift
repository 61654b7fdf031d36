import Foundation
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore

/// Deletes old requests from the log until shutdown, one process for all. A server that keeps none deletes what was kept before.
public struct RequestExpiryService: Service {
    /// From one run to the next, of all processes together.
    static let pause = Duration.seconds(600)

    private let retention: RequestRetention
    private let pool: PostgresPool
    private let logger: Logger

    public init(_ retention: RequestRetention, pool: PostgresPool, logger: Logger) {
        self.retention = retention
        self.pool = pool
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var timer = RoutineTimer(.requestExpiry, every: Self.pause, in: pool)
            await timer.runPeriodically(logger, expire)
        }
    }

    /// One run, due or not.
    /// - Returns: what came of it, in words.
    func expire() async throws -> [StoredMessage] {
        let count = try await RequestExpiry(retention, pool: pool).run(now: Date().microsecondsSince1970)
        return [StoredMessage(count, one: "\(count) request was deleted", other: "\(count) requests were deleted")]
    }
}
