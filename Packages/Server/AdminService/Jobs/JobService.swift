public import Logging
public import PostgresClient
public import ServiceLifecycle
public import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloPostgresStore
public import TomboloRules

/// Runs jobs until shutdown. Any number of processes may run it; `JobRunner` explains why nothing happens twice.
public struct JobService: Service {
    /// How often it checks for jobs while there are none.
    static let interval = Duration.milliseconds(500)
    /// How often it deletes old jobs. An administrator can also request a run.
    static let forgetInterval = Duration.seconds(3_600)

    let runner: JobRunner
    private let pool: PostgresPool
    private let logger: Logger

    public init(rules: LiveRules, pool: PostgresPool, authenticator: Authenticator, logger: Logger) {
        runner = JobRunner(rules: rules, pool: pool, trash: .of(pool)) { user in
            // The job needs the current roles, not those cached a second ago.
            authenticator.forget(user)
            do {
                return try await authenticator.subject(of: user)
            } catch AuthenticationError.unknownUser {
                return nil
            }
        }
        self.pool = pool
        self.logger = logger
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            var expiry = RoutineTimer(.jobExpiry, every: Self.forgetInterval, in: pool)
            while !Task.isCancelled {
                do {
                    // Done first, since there may be jobs for hours.
                    try await expiry.runIfDue {
                        try await runner.forgetOld()
                        return [StoredMessage("jobs that ended long ago were deleted")]
                    }
                    if try await runner.step() { continue }
                } catch is CancellationError {
                    return
                } catch {
                    logger.warning("A batch of a job failed; will try again: \(error)")
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
