package import PostgresClient

/// Says to one process when to do a routine: at its start, some time after its last run, and within ``Routine/lookInterval``
/// whenever a run is due in the database.
package struct RoutineTimer {
    private let routine: Routine
    private let pause: Duration
    private var nextRun = ContinuousClock.now
    private var nextLook = ContinuousClock.now

    /// - Parameter pause: from one run to the next.
    package init(_ routine: Routine, every pause: Duration) {
        self.routine = routine
        self.pause = pause
    }

    /// Whether to run now. It may be asked as often as one likes: it looks into the database only now and then.
    package mutating func isTime(in pool: PostgresPool) async -> Bool {
        let now = ContinuousClock.now
        guard now >= nextLook else { return false }
        nextLook = now + Routine.lookInterval
        // Before the clock counts: a run by the clock is also the one that is due, and nobody else is to begin it.
        let isTaken = await routine.take(pause: pause, in: pool)
        guard isTaken || now >= nextRun else { return false }
        nextRun = now + pause
        return true
    }
}
