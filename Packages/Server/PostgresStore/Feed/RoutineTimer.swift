package import Logging
package import PostgresClient
package import TomboloLocalization

/// Does a routine in one process, beside any number of others: within ``Routine/lookInterval`` after a run is due.
package struct RoutineTimer {
    private let routine: Routine
    private let pause: Duration
    private let pool: PostgresPool
    private var nextLook = ContinuousClock.now

    /// - Parameter pause: from one run to the next.
    package init(_ routine: Routine, every pause: Duration, in pool: PostgresPool) {
        self.routine = routine
        self.pause = pause
        self.pool = pool
    }

    /// As ``Routine/runIfDue(every:in:_:)``. It may be called as often as one likes: it looks into the database only now and
    /// then.
    package mutating func runIfDue(_ body: () async throws -> [StoredMessage]?) async throws {
        let now = ContinuousClock.now
        guard now >= nextLook else { return }
        nextLook = now + Routine.lookInterval
        try await routine.runIfDue(every: pause, in: pool, body)
    }

    /// Does the runs that are due until the task is cancelled. Errors are logged, and the next run tries again.
    package mutating func runPeriodically(_ logger: Logger, _ body: () async throws -> [StoredMessage]?) async {
        while !Task.isCancelled {
            do {
                try await runIfDue(body)
            } catch is CancellationError {
                return
            } catch {
                logger.warning("The \(routine.rawValue) failed and will run again: \(error)")
            }
            try? await Task.sleep(for: Routine.lookInterval)
        }
    }
}
