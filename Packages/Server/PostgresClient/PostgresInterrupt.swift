import Foundation

/// Tells a connection's thread, which may be waiting in `poll`, to stop its operation.
///
/// A request reaches only the operation running at that moment. The connection's own thread then talks to the server,
/// so that a late request can never hit the next statement.
final class PostgresInterrupt: Sendable {
    private struct State {
        var isRunning = false
        var isRequested = false
    }

    private let state = Locked(State())
    /// The end of the pipe that `poll` watches.
    let readDescriptor: Int32
    private let writeDescriptor: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(
                code: .insufficientResources,
                message: "couldn't make a pipe: \(String(cString: strerror(errno)))",
                hint: "Raise the limit of open files (ulimit -n) or use fewer connections.")
        }
        readDescriptor = ends[0]
        writeDescriptor = ends[1]
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(readDescriptor)
        close(writeDescriptor)
    }

    /// Starts an operation that can be interrupted until `end()`.
    func begin() {
        state.withLock { $0 = State(isRunning: true, isRequested: false) }
    }

    func end() {
        let wasRequested = state.withLock { state in
            let wasRequested = state.isRequested
            state = State()
            return wasRequested
        }
        if wasRequested { drain() }
    }

    /// Interrupts the running operation, if any. May be called from any thread.
    func request() {
        state.withLock { state in
            guard state.isRunning, !state.isRequested else { return }
            state.isRequested = true
            var byte: UInt8 = 1
            // Doesn't block: the pipe is non-blocking and holds at most one byte.
            _ = write(writeDescriptor, &byte, 1)
        }
    }

    /// Empties the pipe after `poll` reported it.
    func drain() {
        var byte: UInt8 = 0
        while read(readDescriptor, &byte, 1) > 0 {}
    }
}
