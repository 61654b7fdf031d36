import Foundation
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloHTTP
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
            while !Task.isCancelled {
                do {
                    _ = try await step()
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("Old requests can't be deleted from the log, which will be tried again: \(error)")
                }
                try? await Task.sleep(for: Routine.lookInterval)
            }
        }
    }

    /// - Returns: whether it was due, and this process did it.
    func step() async throws -> Bool {
        guard try await Routine.requestExpiry.claim(pause: Self.pause, in: pool) else { return false }
        try await Routine.requestExpiry.run(pause: Self.pause, in: pool) {
            "\(try await RequestExpiry(retention, pool: pool).run(now: Date().microsecondsSince1970)) requests were deleted"
        }
        return true
    }
}
