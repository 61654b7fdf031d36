import Foundation

/// One thread that waits for the sockets of all connections. It reads and writes nothing itself. It resumes the task
/// that waits for a socket, and the libpq calls, none of which block, run wherever that task runs. So a connection
/// whose rows aren't consumed, or whose result is large, doesn't hold up the others.
///
/// The thread starts with the first connection and lasts as long as the process.
package final class PostgresReactor: Sendable {
    /// The number of sockets that one call to the system reports; the next call reports the rest.
    package static let eventLimit = 256

    private struct State {
        var lastID: UInt64 = 0
        var watches: [UInt64: PostgresSocketWatch] = [:]
    }

    private static let running = Locked<PostgresReactor?>(nil)
    private let selector: any PostgresSelector
    private let state = Locked(State())

    /// The process's reactor.
    /// - Throws: ``PostgresError`` if the system has no file descriptors left. The next call retries.
    static func shared() throws -> PostgresReactor {
        try running.withLock { running in
            if let running { return running }
            #if os(Linux)
                let reactor = PostgresReactor(try PostgresEpollSelector())
            #else
                let reactor = PostgresReactor(try PostgresPollSelector())
            #endif
            reactor.start()
            running = reactor
            return reactor
        }
    }

    package init(_ selector: any PostgresSelector) { self.selector = selector }

    /// Starts the thread, which holds the reactor.
    package func start() {
        let thread = Thread {
            while true { self.turn() }
        }
        thread.name = "postgres-reactor"
        thread.start()
    }

    /// Waits for sockets once, and resumes the tasks that wait for them.
    private func turn() {
        let ids = selector.wait()
        let ready = state.withLock { state in ids.compactMap { state.watches[$0] } }
        for watch in ready { watch.socketIsReady() }
    }

    /// - Returns: the id that the watch's sockets are armed under.
    func add(_ watch: PostgresSocketWatch) -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.watches[state.lastID] = watch
            return state.lastID
        }
    }

    func arm(_ socket: Int32, id: UInt64, toWrite: Bool) throws {
        try selector.arm(socket, id: id, toWrite: toWrite)
    }

    /// Forgets a socket that is about to be closed.
    func forget(_ socket: Int32, id: UInt64) { selector.forget(socket, id: id) }

    /// Ids aren't reused, so an event in flight for a removed id reaches nobody.
    func remove(id: UInt64) {
        _ = state.withLock { $0.watches.removeValue(forKey: id) }
    }
}
