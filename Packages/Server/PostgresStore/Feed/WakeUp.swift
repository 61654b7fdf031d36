internal import Synchronization

/// Lets one task wait until a time is over or another task wakes it. Wake-ups don't accumulate.
final class WakeUp: Sendable {
    private struct State {
        var isPending = false
        var waiter: CheckedContinuation<Void, Never>?
        /// Tells the timers of past waits from the current one's.
        var generation = 0
        /// The wait whose time was over before it began.
        var expired = 0
    }

    private let state = Mutex(State())

    /// Ends the current wait, or the next one before it begins.
    func wake() { wake(generation: nil) }

    /// Whether the next wait would end before it begins.
    var isPending: Bool { state.withLock(\.isPending) }

    private func wake(generation: Int?) {
        let waiter = state.withLock { state in
            if let generation, generation != state.generation { return nil as CheckedContinuation<Void, Never>? }
            let waiter = state.waiter
            state.waiter = nil
            guard waiter == nil else { return waiter }
            if let generation { state.expired = generation } else { state.isPending = true }
            return nil
        }
        waiter?.resume()
    }

    /// Returns when woken, when the time is over, or when the task is cancelled.
    func wait(_ duration: Duration) async {
        let generation = state.withLock { state in
            state.generation += 1
            return state.generation
        }
        let timer = Task {
            try? await Task.sleep(for: duration)
            wake(generation: generation)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isPending || state.expired == generation || Task.isCancelled {
                        state.isPending = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(generation: nil)
        }
        timer.cancel()
    }
}
