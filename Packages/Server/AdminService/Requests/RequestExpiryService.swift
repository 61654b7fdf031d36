import Foundation
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore

/// Deletes old requests from the log until shutdown; one process does it for all. A server that keeps no requests
/// deletes those that were kept before.
public struct RequestExpiryService: Service {
    /// The pause between two runs, across all processes.
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

    /// Does one run, whether due or not.
    /// - Returns: the result, in words.
    func expire() async throws -> [StoredMessage] {
        let count = try await RequestExpiry(retention, pool: pool).run(now: Date().microsecondsSince1970)
        return [StoredMessage(count, one: "\(count) request was deleted", other: "\(count) requests were deleted")]
    }
}
