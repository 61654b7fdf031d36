internal import ServiceLifecycle
internal import Synchronization

/// Tells feeds that there may be a new tick. It's a hint: what a tick says is always read from PostgreSQL, and feeds look
/// by themselves every ``TickFeed/pollInterval``. So one that is lost costs a second, and one that somebody forges costs
/// a query.
protocol TickWakeUps: Service {
    var signals: TickSignals { get }
}

extension TickWakeUps {
    /// Yields when there may be a new tick, and after every reconnect, since some may have been missed.
    func wakeUps() -> AsyncStream<Void> { signals.stream() }
}

/// Hands wake-ups to every feed. A feed that hasn't taken the last one gets no second one.
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

    /// Ends all streams, those that are asked for later too.
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
