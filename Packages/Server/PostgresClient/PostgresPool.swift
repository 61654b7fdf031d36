import Foundation
public import Logging

/// A bounded set of connections to one database.
///
/// Connections are opened on demand and kept. When all are in use, requests wait in an order that depends on who they
/// are for (``PostgresBorrower``). The number of waiting requests and their waiting time are bounded too. A
/// connection is replaced if it broke, or if it came back inside a transaction that can't be rolled back.
public final class PostgresPool: Sendable {
    /// The bounds of a pool.
    public struct Options: Sendable {
        public static let defaultMaximumConnections = 8
        public static let defaultMaximumWaiters = 1_000
        public static let defaultAcquireTimeout = Duration.seconds(30)

        /// The maximum number of connections, at least 1.
        public var maximumConnections: Int
        /// The maximum number of waiting requests; further ones fail at once.
        public var maximumWaiters: Int
        /// How long a request may wait for a free connection, and how long opening one is retried.
        public var acquireTimeout: Duration
        /// The waits between attempts to open a connection.
        public var backoff: PostgresBackoff

        public init(
            maximumConnections: Int = Self.defaultMaximumConnections,
            maximumWaiters: Int = Self.defaultMaximumWaiters, acquireTimeout: Duration = Self.defaultAcquireTimeout,
            backoff: PostgresBackoff = PostgresBackoff()
        ) {
            self.maximumConnections = max(1, maximumConnections)
            self.maximumWaiters = max(0, maximumWaiters)
            self.acquireTimeout = acquireTimeout
            self.backoff = backoff
        }
    }

    /// The current use of the connections.
    public struct Statistics: Sendable, Equatable {
        /// Open connections that nobody uses.
        public var idle: Int
        /// Connections that are lent out.
        public var inUse: Int
        /// Requests waiting for a connection.
        public var waiting: Int

        public init(idle: Int, inUse: Int, waiting: Int) {
            self.idle = idle
            self.inUse = inUse
            self.waiting = waiting
        }
    }

    /// The configuration that connections are opened with.
    public let configuration: PostgresConfiguration
    /// The pool's bounds.
    public let options: Options
    private let logger: Logger
    private let clock = ContinuousClock()
    private typealias Grant = PostgresGrant<PostgresConnection>
    private let state: Locked<PostgresPoolState<PostgresConnection, CheckedContinuation<Grant, any Error>>>
    /// The number of requests that got a connection or permission to open one, and their total waiting time.
    private let allWaits = Locked<(count: Int, time: Duration)>((0, .zero))

    public init(
        configuration: PostgresConfiguration, options: Options = Options(), logger: Logger = Logger(label: "postgres")
    ) {
        self.configuration = configuration
        self.options = options
        self.logger = logger
        state = Locked(
            PostgresPoolState(
                maximumConnections: options.maximumConnections, maximumWaiters: options.maximumWaiters))
    }

    /// The current use of the connections. May be called from any thread.
    public var statistics: Statistics {
        state.withLock { $0.statistics }
    }

    /// The number of requests that got a connection since the pool was created, and their total waiting time, which
    /// doesn't include opening connections. May be called from any thread.
    public var waits: (count: Int, time: Duration) {
        allWaits.withLock { $0 }
    }

    // MARK: Using connections

    /// Lends a connection to `body`. Session settings that `body` changes stay with the connection.
    ///
    /// - Throws: what `body` throws, `PostgresPoolError`, or the `PostgresError` that prevented a connection.
    @discardableResult
    nonisolated(nonsending) public func withConnection<R>(
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        let borrower = PostgresBorrower.current
        let connection = try await acquire(for: borrower)
        do {
            let result = try await use(connection, for: borrower, body)
            await giveBack(connection, from: borrower)
            return result
        } catch {
            await giveBack(connection, from: borrower)
            throw error
        }
    }

    /// Further connections that `body` borrows aren't counted for any borrower.
    nonisolated(nonsending) private func use<R>(
        _ connection: PostgresConnection, for borrower: PostgresBorrower?,
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        guard borrower != nil else { return try await body(connection) }
        return try await PostgresBorrower.$current.withValue(nil) { try await body(connection) }
    }

    /// `PostgresConnection.query` on a connection of the pool.
    @discardableResult
    public func query(
        _ sql: String, _ parameters: [PostgresParameter] = [], format: PostgresResultFormat = .binary,
        file: String = #fileID, line: Int = #line
    ) async throws -> PostgresResult {
        try await withConnection {
            try await $0.query(sql, parameters, format: format, file: file, line: line)
        }
    }

    /// `PostgresConnection.execute` on a connection of the pool.
    @discardableResult
    public func execute(_ sql: String, file: String = #fileID, line: Int = #line) async throws -> [PostgresResult] {
        try await withConnection { try await $0.execute(sql, file: file, line: line) }
    }

    /// `PostgresConnection.transaction` on a connection of the pool.
    @discardableResult
    nonisolated(nonsending) public func transaction<R>(
        isolation: PostgresIsolation? = nil, readOnly: Bool = false,
        file: String = #fileID, line: Int = #line,
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        try await withConnection {
            try await $0.transaction(isolation: isolation, readOnly: readOnly, file: file, line: line, body)
        }
    }

    // MARK: Shutting down

    /// Refuses new and waiting requests, and returns when all connections are closed. Connections in use have `grace`
    /// to come back; then their statements are cancelled and they're closed as soon as those stop.
    public func shutdown(grace: Duration = .seconds(5)) async {
        let actions = state.withLock { $0.shutDown() }
        for waiter in actions.refused { waiter.resume(throwing: PostgresPoolError.shutDown) }
        for connection in actions.idle { await connection.close() }
        let deadline = Task {
            try await Task.sleep(for: grace)
            for connection in state.withLock({ Array($0.lent.values) }) { connection.cancel() }
            // Once a connection is closed, its borrower's later statements fail.
            for connection in state.withLock({ Array($0.lent.values) }) { await connection.close() }
        }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { $0.waitUntilEmpty(continuation) }
            if isEmpty { continuation.resume() }
        }
        deadline.cancel()
    }

    // MARK: Lending

    private func acquire(for borrower: PostgresBorrower?) async throws -> PostgresConnection {
        let began = clock.now
        let deadline = began + options.acquireTimeout
        try Task.checkCancellation()
        let grant = try await nextGrant(for: borrower, deadline: deadline)
        let waited = clock.now - began
        allWaits.withLock { $0 = ($0.count + 1, $0.time + waited) }
        switch grant {
        case .connection(let connection):
            if await isAlive(connection) { return connection }
            logger.debug("a pooled PostgreSQL connection was lost while idle; opening another")
            return try await open(replacing: connection, for: borrower, deadline: deadline)
        case .slot:
            return try await open(replacing: nil, for: borrower, deadline: deadline)
        }
    }

    private func nextGrant(
        for borrower: PostgresBorrower?, deadline: ContinuousClock.Instant
    ) async throws -> Grant {
        let id = state.withLock { $0.makeWaiterID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let decision = state.withLock {
                    // Checked under the lock, so that a later cancellation finds the waiter.
                    Task.isCancelled
                        ? .cancelled : $0.request(id: id, for: borrower, deadline: deadline, continuation)
                }
                switch decision {
                case .granted(let grant): continuation.resume(returning: grant)
                case .refused(let error): continuation.resume(throwing: error)
                case .cancelled: continuation.resume(throwing: CancellationError())
                case .queued(let startTimer): if startTimer { startExpiry() }
                }
            }
        } onCancel: {
            state.withLock { $0.removeWaiter(id) }?.resume(throwing: CancellationError())
        }
    }

    /// One timer serves all waiters, whose deadlines are in order.
    private func startExpiry() {
        Task {
            while let next = state.withLock({ $0.nextDeadline() }) {
                try? await clock.sleep(until: next)
                let expired = state.withLock { $0.expire(now: clock.now) }
                for waiter in expired {
                    waiter.resume(
                        throwing: PostgresPoolError.timedOut(
                            after: options.acquireTimeout, size: options.maximumConnections))
                }
            }
        }
    }

    /// Checks the socket without asking the server: an idle connection has nothing to read unless it's closing.
    private func isAlive(_ connection: PostgresConnection) async -> Bool {
        var descriptor = pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)
        guard descriptor.fd >= 0 else { return false }
        if poll(&descriptor, 1, 0) == 0 { return true }
        return await connection.checkIdle()
    }

    /// Opens a connection for a slot that's already counted.
    private func open(
        replacing old: PostgresConnection?, for borrower: PostgresBorrower?, deadline: ContinuousClock.Instant
    ) async throws -> PostgresConnection {
        if let old {
            state.withLock { $0.forget(old) }
            await old.close()
        }
        var attempt = 0
        while true {
            do {
                let connection = try await PostgresConnection.connect(configuration, logger: logger)
                guard state.withLock({ $0.lend(connection) }) else {
                    await connection.close()
                    throw PostgresPoolError.shutDown
                }
                return connection
            } catch {
                let delay = options.backoff.delay(attempt: attempt)
                attempt += 1
                let mayRetry = (error as? PostgresError)?.isRetryable ?? false
                guard mayRetry, clock.now + delay < deadline, !state.withLock({ $0.isShutDown }) else {
                    freeSlot(of: borrower)
                    throw error
                }
                logger.info("PostgreSQL: connecting failed, next attempt in \(delay): \(error)")
                do {
                    try await Task.sleep(for: delay)
                } catch {
                    freeSlot(of: borrower)
                    throw error
                }
            }
        }
    }

    private func giveBack(_ connection: PostgresConnection, from borrower: PostgresBorrower?) async {
        switch connection.transactionStatus {
        case .idle, .closed: break
        case .inTransaction, .inFailedTransaction:
            logger.warning("a PostgreSQL connection came back inside a transaction; rolling back")
            await connection.rollback()
        case .active:
            logger.warning("a PostgreSQL connection came back while busy; closing it")
            await connection.close()
        }
        guard connection.transactionStatus == .idle else {
            await connection.close()
            state.withLock { $0.forget(connection) }
            return freeSlot(of: borrower)
        }
        switch state.withLock({ $0.giveBack(connection, from: borrower) }) {
        case .kept(let granted): for one in granted { one.request.resume(returning: one.grant) }
        case .close(let waitingForEmpty):
            await connection.close()
            for continuation in waitingForEmpty { continuation.resume() }
        }
    }

    /// A counted slot has lost its connection, so that a waiter may open one.
    private func freeSlot(of borrower: PostgresBorrower?) {
        let next = state.withLock { $0.freeSlot(of: borrower) }
        for one in next.granted { one.request.resume(returning: one.grant) }
        for continuation in next.waitingForEmpty { continuation.resume() }
    }
}
