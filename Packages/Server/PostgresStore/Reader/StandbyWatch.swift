internal import Synchronization

/// Releases a caller when a standby doesn't answer, for example because its machine is frozen. In that case not even
/// cancelling the statement works, because the cancel request hangs as well.
///
/// So a separate task waits for the standby, and is left behind if necessary. That task keeps its connection until
/// the standby answers or the connection breaks, and passes nothing more to the caller. The pool bounds how many such
/// tasks there are.
final class StandbyWatch: Sendable {
    struct Limits: Sendable {
        /// How long the standby may take to report its position, including ``PostgresStandby/patience``.
        var opening = Duration.seconds(3)
        /// How long it may take to send the next rows.
        var answer = Duration.seconds(30)
        /// How long it may take to end when the caller is cancelled.
        var ending = Duration.seconds(3)
    }

    /// How often to check whether a limit is exceeded.
    private static let interval = Duration.milliseconds(100)

    /// The caller was released before the task ended.
    struct LeftBehind: Error {}

    private enum Phase {
        /// Waits for the standby until the given time. Next: any.
        case waiting(until: ContinuousClock.Instant)
        /// The caller is working, without a time limit. Next: any.
        case reading
        /// Final.
        case leftBehind, ended
    }

    private struct State {
        var phase: Phase
        var hasOpened = false
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private let limits: Limits
    private let state: Mutex<State>

    init(_ limits: Limits) {
        self.limits = limits
        state = Mutex(State(phase: .waiting(until: .now + limits.opening)))
    }

    /// Whether the caller may have received something.
    var hasOpened: Bool { state.withLock { $0.hasOpened } }

    // MARK: What the task says

    /// The standby is at the right tick, and the caller begins to read.
    /// - Throws: ``LeftBehind``.
    func opened() throws {
        try answered()
        state.withLock { $0.hasOpened = true }
    }

    /// A request to the standby is about to be sent.
    func asks() {
        state.withLock { state in
            guard case .reading = state.phase, !state.isCancelled else { return }
            state.phase = .waiting(until: .now + limits.answer)
        }
    }

    /// The standby has answered.
    /// - Throws: ``LeftBehind``.
    func answered() throws {
        try state.withLock { state in
            if case .leftBehind = state.phase { throw LeftBehind() }
            if !state.isCancelled { state.phase = .reading }
        }
    }

    // MARK: The caller

    /// Runs `body`.
    /// - Throws: what `body` throws; ``LeftBehind`` if a limit is over.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let outcome = OneOutcome<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                outcome.wait(continuation)
                start(
                    Task {
                        let result: Swift.Result<Result, any Error>
                        do { result = .success(try await body()) } catch { result = .failure(error) }
                        outcome.finish(result)
                        self.state.withLock { $0.phase = .ended }
                    })
                Task {
                    while self.isInTime() { try? await Task.sleep(for: Self.interval) }
                    // Has no effect if the task has ended.
                    outcome.finish(.failure(LeftBehind()))
                }
            }
        } onCancel: {
            cancel()
        }
    }

    private func start(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func cancel() {
        state.withLock { state in
            state.isCancelled = true
            switch state.phase {
            case .waiting, .reading: state.phase = .waiting(until: .now + limits.ending)
            case .leftBehind, .ended: break
            }
            return state.task
        }?.cancel()
    }

    /// False once the task has ended or was left behind.
    private func isInTime() -> Bool {
        let (isInTime, late) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            switch state.phase {
            case .reading: return (true, nil)
            case .leftBehind, .ended: return (false, nil)
            case .waiting(let limit):
                guard limit <= .now else { return (true, nil) }
                state.phase = .leftBehind
                return (false, state.task)
            }
        }
        late?.cancel()
        return isInTime
    }
}

/// Delivers the first of several outcomes.
private final class OneOutcome<Success: Sendable>: Sendable {
    private let waiter = Mutex<CheckedContinuation<Success, any Error>?>(nil)

    func wait(_ continuation: CheckedContinuation<Success, any Error>) { waiter.withLock { $0 = continuation } }

    func finish(_ result: Result<Success, any Error>) {
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(with: result)
    }
}
