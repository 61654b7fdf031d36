import Foundation
public import Logging
public import PostgresClient
public import ServiceLifecycle
import TomboloHTTP
import TomboloModel
public import TomboloRules

/// Purges the trash when it starts and every hour, until shutdown. Any number of processes may run one.
public struct TrashPurgeService: Service {
    private let rules: LiveRules
    private let pool: PostgresPool
    private let logger: Logger

    /// - Parameter rules: their current classes are purged at each run.
    public init(rules: LiveRules, pool: PostgresPool, logger: Logger) {
        self.rules = rules
        self.pool = pool
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                var hasMore = false
                do {
                    let purge = TrashPurge(schema: rules.current.schema, pool: pool, logger: logger)
                    let origin = ChangeOrigin(.system, route: "purge of the trash")
                    if let report = try await origin.run({ try await purge.run(now: Date().microsecondsSince1970) }) {
                        if report.objects + report.failed > 0 { logger.info("Purged the trash: \(report)") }
                        hasMore = report.hasMore
                    }
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("The purge of the trash failed; will try again: \(error)")
                }
                if !hasMore { try? await Task.sleep(for: TrashPurge.interval) }
            }
        }
    }
}
