internal import ServiceLifecycle
internal import Synchronization

/// Tells feeds that there may be a new tick. This is only a hint: the tick itself is always read from PostgreSQL, and
/// feeds also poll every ``TickFeed/pollInterval``. So a lost wake-up costs a second, and a forged one costs a query.
protocol TickWakeUps: Service {
    var signals: TickSignals { get }
}

extension TickWakeUps {
    /// Yields when there may be a new tick, and after each reconnect, because a wake-up may have been missed.
    func wakeUps() -> AsyncStream<Void> { signals.stream() }
}

/// Distributes wake-ups to every feed. A feed that hasn't consumed the last one doesn't get a second one.
final class TickSignals: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    func send() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
    }

    /// Ends all streams, including those requested later.
    func finish() {
        let listeners = state.withLock { state in
            state.isFinished = true
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.listeners[number] = nil } }
        return stream
    }
}
