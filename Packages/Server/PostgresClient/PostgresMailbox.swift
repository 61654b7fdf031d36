/// A bounded queue between the listener and its reader. An overflow replaces everything with `.connected`, which tells
/// the reader to read the database again, so that no notification is lost silently.
final class PostgresMailbox: Sendable {
    private struct State {
        var events: [PostgresListenerEvent] = []
        /// Index of the next event in `events`.
        var next = 0
        var reader: CheckedContinuation<PostgresListenerEvent?, Never>?
        var isFinished = false

        mutating func take() -> PostgresListenerEvent? {
            guard next < events.count else { return nil }
            defer {
                next += 1
                if next == events.count {
                    events.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return events[next]
        }
    }

    let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    func put(_ events: [PostgresListenerEvent]) {
        let delivery = state.withLock {
            state -> (CheckedContinuation<PostgresListenerEvent?, Never>, PostgresListenerEvent)? in
            guard !state.isFinished else { return nil }
            if state.events.count - state.next + events.count > limit {
                state.events = [.connected]
                state.next = 0
            } else {
                state.events.append(contentsOf: events)
            }
            guard let reader = state.reader, let event = state.take() else { return nil }
            state.reader = nil
            return (reader, event)
        }
        if let (reader, event) = delivery { reader.resume(returning: event) }
    }

    /// The next event, or nil at the end or if the task is cancelled.
    func next() async -> PostgresListenerEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> (PostgresListenerEvent?, isFinal: Bool) in
                    if let event = state.take() { return (event, true) }
                    // Checked under the lock, so that a later cancellation finds the reader.
                    if state.isFinished || Task.isCancelled || state.reader != nil { return (nil, true) }
                    state.reader = continuation
                    return (nil, false)
                }
                if answer.isFinal { continuation.resume(returning: answer.0) }
            }
        } onCancel: {
            takeReader()?.resume(returning: nil)
        }
    }

    func finish() {
        state.withLock { $0.isFinished = true }
        takeReader()?.resume(returning: nil)
    }

    private func takeReader() -> CheckedContinuation<PostgresListenerEvent?, Never>? {
        state.withLock { state in
            defer { state.reader = nil }
            return state.reader
        }
    }
}
