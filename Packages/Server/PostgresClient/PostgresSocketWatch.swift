/// Where the task of a connection's running operation waits for the server, and where other threads interrupt it.
///
/// An interruption reaches only the operation running at that moment. The operation itself then talks to the server, so
/// that a late request can never hit the next statement.
final class PostgresSocketWatch: Sendable {
    enum Event {
        /// There may be something to read or room to write. This event can come too early.
        case socket
        case interrupt
        /// The system refused to watch the socket.
        case failure(any Error)
    }

    /// `waiter` is set while the operation is suspended. An interruption that finds no waiter is kept in
    /// `isInterrupted` for the next wait.
    private struct State {
        var operation: UInt64 = 0
        var isRunning = false
        var isRequested = false
        var isInterrupted = false
        var waiter: CheckedContinuation<Event, Never>?

        mutating func takeWaiter() -> CheckedContinuation<Event, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let reactor: PostgresReactor
    private let state = Locked(State())
    private let id = Locked<UInt64?>(nil)

    init(_ reactor: PostgresReactor) { self.reactor = reactor }

    // MARK: The operation's own calls

    /// Starts an operation that can be interrupted until ``end()``.
    /// - Returns: its number.
    func begin() -> UInt64 {
        state.withLock { state in
            state = State(operation: state.operation + 1, isRunning: true)
            return state.operation
        }
    }

    func end() { state.withLock { $0 = State(operation: $0.operation) } }

    /// Suspends until the socket is ready or the operation is interrupted.
    nonisolated(nonsending) func wait(_ socket: Int32, toWrite: Bool) async -> Event {
        await withCheckedContinuation { continuation in
            let isInterrupted = state.withLock { state in
                defer { state.isInterrupted = false }
                if !state.isInterrupted { state.waiter = continuation }
                return state.isInterrupted
            }
            if isInterrupted { return continuation.resume(returning: .interrupt) }
            do {
                try reactor.arm(socket, id: registeredID(), toWrite: toWrite)
            } catch {
                state.withLock { $0.takeWaiter() }?.resume(returning: .failure(error))
            }
        }
    }

    /// The reactor keeps the watch until ``close(_:)``.
    private func registeredID() -> UInt64 {
        id.withLock { id in
            if let id { return id }
            let new = reactor.add(self)
            id = new
            return new
        }
    }

    /// Must be called before the socket is closed.
    func close(_ socket: Int32) {
        let known = id.withLock { id in
            defer { id = nil }
            return id
        }
        guard let known else { return }
        reactor.forget(socket, id: known)
        reactor.remove(id: known)
    }

    // MARK: From any thread

    func socketIsReady() { state.withLock { $0.takeWaiter() }?.resume(returning: .socket) }

    /// Interrupts the running operation, if any, once.
    /// - Parameter operation: the number of the only operation to interrupt; nil for any.
    func request(_ operation: UInt64? = nil) {
        interrupt { state in
            guard !state.isRequested, operation == nil || operation == state.operation else { return false }
            state.isRequested = true
            return true
        }
    }

    /// Interrupts an operation again, unless it has ended.
    func remind(_ operation: UInt64) {
        interrupt { $0.operation == operation }
    }

    private func interrupt(if isMeant: (inout State) -> Bool) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            guard state.isRunning, isMeant(&state) else { return nil }
            if let waiter = state.takeWaiter() { return waiter }
            state.isInterrupted = true
            return nil
        }
        waiter?.resume(returning: .interrupt)
    }
}
