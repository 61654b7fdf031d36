internal import Synchronization

/// Wakes one waiting task when something may have changed. Signals without a waiter are merged.
final class ChangeSignal: Sendable {
    private enum State {
        case quiet
        case signalled
        case waiting(CheckedContinuation<Void, Never>)
        case over
    }

    private let state = Mutex(State.quiet)

    func signal() { take(next: .signalled)?.resume() }

    /// Ends waiting for good.
    func end() { take(next: .over)?.resume() }

    private func take(next: State) -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            switch state {
            case .waiting(let continuation):
                if case .over = next { state = .over } else { state = .quiet }
                return continuation
            case .over: return nil
            case .quiet, .signalled:
                state = next
                return nil
            }
        }
    }

    /// Returns after a signal, at once if one arrived since the last wait, or when the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    switch state {
                    case .quiet, .waiting:
                        state = .waiting(continuation)
                        return false
                    case .signalled:
                        state = .quiet
                        return true
                    case .over: return true
                    }
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }
}
