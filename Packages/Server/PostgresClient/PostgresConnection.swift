public import Logging

/// One connection to PostgreSQL.
///
/// A call sends its statement from the calling thread and suspends until the server answers; no thread blocks
/// meanwhile. Calls from several tasks take turns statement by statement. To run several statements together, use
/// `transaction`, `pipeline`, or a separate connection from a `PostgresPool`.
///
/// Cancelling a task cancels its running statement on the server and throws `CancellationError`; the connection stays
/// usable. Every other failure is a `PostgresError`.
public actor PostgresConnection {
    private let session: PostgresSession
    private nonisolated let watch: PostgresSocketWatch
    /// Operations suspend while they wait for the server, so the actor alone doesn't keep them from interleaving.
    private nonisolated let turns = PostgresTurns()
    /// The configuration that the connection was opened with.
    nonisolated public let configuration: PostgresConfiguration
    /// State for other threads, copied from the session after every operation.
    private nonisolated let status = Locked(Status())

    struct Status {
        var transaction = PostgresTransactionStatus.closed
        var processID: Int32 = 0
        var socket: Int32 = -1
    }

    private init(configuration: PostgresConfiguration, logger: Logger) throws {
        self.configuration = configuration
        watch = PostgresSocketWatch(try PostgresReactor.shared())
        session = PostgresSession(configuration: configuration, watch: watch, logger: logger)
    }

    /// Opens a connection.
    ///
    /// - Throws: `PostgresError` (class 08, or the server's own code such as 28P01), or `CancellationError`.
    public static func connect(
        _ configuration: PostgresConfiguration, logger: Logger = Logger(label: "postgres"),
        file: String = #fileID, line: Int = #line
    ) async throws -> PostgresConnection {
        let connection = try PostgresConnection(configuration: configuration, logger: logger)
        try await connection.open(file: file, line: line)
        return connection
    }

    private func open(file: String, line: Int) async throws {
        try await interruptible { session in try await session.open(file: file, line: line) }
    }

    /// Closes the connection once the running operation has ended. The server rolls back an open transaction. May be
    /// called more than once.
    public func close() async {
        await turns.takeUncancelled()
        defer { turns.give() }
        session.close()
        publishStatus()
    }

    /// Cancels the running statement, if any, which fails with SQLSTATE 57014. May be called from any thread.
    nonisolated public func cancel() {
        watch.request()
    }

    // MARK: State

    /// The transaction's state as of the last operation.
    nonisolated public var transactionStatus: PostgresTransactionStatus {
        status.withLock { $0.transaction }
    }

    /// The server process, as in `pg_stat_activity.pid`; 0 if closed.
    nonisolated public var processID: Int32 {
        status.withLock { $0.processID }
    }

    /// The socket, to be inspected while the connection is idle; -1 if closed.
    nonisolated var socket: Int32 {
        status.withLock { $0.socket }
    }

    private func publishStatus() {
        let known = session.transactionStatus
        let transaction = known == .closed || session.activity == nil ? known : .active
        let processID = session.processID
        let socket = session.socket
        status.withLock {
            $0.transaction = transaction
            $0.processID = processID
            $0.socket = socket
        }
    }

    /// Reads what the server sent while the connection was idle. Returns false if the connection is lost.
    func checkIdle() async -> Bool {
        await turns.takeUncancelled()
        defer {
            publishStatus()
            turns.give()
        }
        return session.checkIdle()
    }

    // MARK: Running operations

    typealias Operation<R> = nonisolated(nonsending) @Sendable (PostgresSession) async throws -> R

    /// Runs `body` without interruption.
    func uninterrupted<R: Sendable>(_ body: Operation<R>) async throws -> R {
        await turns.takeUncancelled()
        _ = session.beginOperation()
        defer { endOperation() }
        return try await body(session)
    }

    /// Runs `body`. Cancelling the task cancels its statement on the server.
    func interruptible<R: Sendable>(_ body: Operation<R>) async throws -> R {
        try await turns.take()
        return try await runInTurn(body)
    }

    /// Like ``interruptible(_:)``, but also runs `body` in a cancelled task and immediately cancels its statement on
    /// the server. For clean-up that may have to wait for a running statement.
    func cancellable<R: Sendable>(_ body: Operation<R>) async throws -> R {
        await turns.takeUncancelled()
        return try await runInTurn(body)
    }

    private func runInTurn<R: Sendable>(_ body: Operation<R>) async throws -> R {
        let operation = session.beginOperation()
        defer { endOperation() }
        do {
            return try await withTaskCancellationHandler {
                try await body(session)
            } onCancel: {
                watch.request(operation)
            }
        } catch let error as PostgresError where Task.isCancelled {
            guard error.code == .queryCanceled || session.handle == nil else { throw error }
            throw CancellationError()
        }
    }

    private func endOperation() {
        session.endOperation()
        publishStatus()
        turns.give()
    }
}
