import Synchronization

/// Runs actions at their deadlines unless they are removed in time. One task waits for the earliest deadline of all. If
/// most work ends in time and has similar limits, the task hardly ever wakes.
final class Deadlines: Sendable {
    static let shared = Deadlines()

    private struct State {
        var lastID: UInt64 = 0
        /// Bounded by the number of requests that are served at a time.
        var open: [UInt64: (at: ContinuousClock.Instant, action: @Sendable () -> Void)] = [:]
        var alarm: (at: ContinuousClock.Instant, task: Task<Void, Never>)?
    }

    private let state = Mutex(State())
    private let clock = ContinuousClock()

    /// - Parameter action: called once, at the deadline, on any thread.
    /// - Returns: a number for ``remove(_:)``.
    func add(after limit: Duration, _ action: @escaping @Sendable () -> Void) -> UInt64 {
        let at = clock.now + limit
        return state.withLock { state in
            state.lastID += 1
            state.open[state.lastID] = (at, action)
            if state.alarm.map({ at < $0.at }) ?? true { setAlarm(at, &state) }
            return state.lastID
        }
    }

    /// - Returns: whether the action wasn't called, and won't be.
    func remove(_ id: UInt64) -> Bool { state.withLock { $0.open.removeValue(forKey: id) } != nil }

    private func setAlarm(_ at: ContinuousClock.Instant, _ state: inout State) {
        state.alarm?.task.cancel()
        let task = Task {
            try? await clock.sleep(until: at)
            if !Task.isCancelled { ring() }
        }
        state.alarm = (at, task)
    }

    private func ring() {
        let now = clock.now
        let overdue = state.withLock { state in
            let overdue = state.open.filter { $0.value.at <= now }
            for id in overdue.keys { state.open[id] = nil }
            state.alarm = nil
            if let next = state.open.values.map(\.at).min() { setAlarm(next, &state) }
            return overdue.values.sorted { $0.at < $1.at }.map(\.action)
        }
        for action in overdue { action() }
    }
}
