/// Lets the operations of several tasks take turns on a connection, first come, first served.
final class PostgresTurns: Sendable {
    /// The number of operations that may wait for one connection; a further one fails.
    static let waiterLimit = 10_000

    private enum Turn {
        case given, cancelled, refused
    }

    private struct State {
        var isTaken = false
        var lastID: UInt64 = 0
        /// In order of arrival. Each operation passes its turn directly to the next; the turn doesn't become free in
        /// between.
        var waiters: [(id: UInt64?, continuation: CheckedContinuation<Turn, Never>)] = []

        mutating func takeIfFree() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }

    private let state = Locked(State())

    /// Waits for a turn. Every call that returns must be followed by one ``give()``.
    /// - Throws: `CancellationError` in a cancelled task, and ``PostgresError`` if too many wait.
    nonisolated(nonsending) func take() async throws {
        guard !state.withLock({ $0.takeIfFree() }) else { return try checkTurn() }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let turn = await withTaskCancellationHandler {
            await wait(cancellableAs: id)
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: .cancelled)
        }
        switch turn {
        case .given: try checkTurn()
        case .cancelled: throw CancellationError()
        case .refused:
            throw PostgresError(
                code: .objectInUse, message: "\(Self.waiterLimit) operations are already waiting for the connection",
                hint: "Take connections from a pool, or run fewer tasks at once.")
        }
    }

    /// For clean-up: waits for a turn even in a cancelled task, and regardless of the limit.
    nonisolated(nonsending) func takeUncancelled() async {
        guard !state.withLock({ $0.takeIfFree() }) else { return }
        _ = await wait(cancellableAs: nil)
    }

    /// Takes the turn at once if it became free meanwhile.
    /// - Parameter id: identifies the waiter when its task is cancelled; nil for clean-up, which neither cancellation
    ///   nor the limit stops.
    nonisolated(nonsending) private func wait(cancellableAs id: UInt64?) async -> Turn {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state -> Turn? in
                // Checked under the lock, so that a later cancellation finds the waiter.
                if id != nil, Task.isCancelled { return .cancelled }
                if state.takeIfFree() { return .given }
                if id != nil, state.waiters.count >= Self.waiterLimit { return .refused }
                state.waiters.append((id, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    func give() {
        let next = state.withLock { state -> CheckedContinuation<Turn, Never>? in
            guard !state.waiters.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiters.removeFirst().continuation
        }
        next?.resume(returning: .given)
    }

    /// A cancelled task gives its turn back.
    private func checkTurn() throws {
        guard Task.isCancelled else { return }
        give()
        throw CancellationError()
    }
}
