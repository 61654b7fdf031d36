package import Logging
package import PostgresClient
package import TomboloLocalization

/// Does a routine in one process, alongside any number of others, within ``Routine/lookInterval`` of the time it's
/// due.
package struct RoutineTimer {
    private let routine: Routine
    private let pause: Duration
    private let pool: PostgresPool
    private var nextLook = ContinuousClock.now

    /// - Parameter pause: the time from one run to the next.
    package init(_ routine: Routine, every pause: Duration, in pool: PostgresPool) {
        self.routine = routine
        self.pause = pause
        self.pool = pool
    }

    /// Like ``Routine/runIfDue(every:in:_:)``, but may be called as often as the caller likes: it checks the database
    /// at most once per ``Routine/lookInterval``.
    package mutating func runIfDue(_ body: () async throws -> [StoredMessage]?) async throws {
        let now = ContinuousClock.now
        guard now >= nextLook else { return }
        nextLook = now + Routine.lookInterval
        try await routine.runIfDue(every: pause, in: pool, body)
    }

    /// Does the runs that are due until the task is cancelled. Errors are logged, and the next run retries.
    package mutating func runPeriodically(_ logger: Logger, _ body: () async throws -> [StoredMessage]?) async {
        while !Task.isCancelled {
            do {
                try await runIfDue(body)
            } catch is CancellationError {
                return
            } catch {
                logger.warning("The \(routine.rawValue) failed; retrying: \(error)")
            }
            try? await Task.sleep(for: Routine.lookInterval)
        }
    }
}
