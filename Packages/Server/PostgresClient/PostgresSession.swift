import CLibPQ
import Dispatch
import Foundation
import Logging

/// A libpq connection in non-blocking mode. Not thread-safe: only its connection's actor calls it, one operation at a
/// time.
///
/// Waiting happens in one place, ``waitForServer(toWrite:_:)``, where a task suspends until its socket is ready or it's
/// interrupted. So cancellation is noticed while the server is silent, and reading continues while a large statement is
/// being sent.
final class PostgresSession {
    /// A cancel request that had no effect is repeated after this time, since it may have reached the server before
    /// the statement did.
    static let cancelRepeat = DispatchTimeInterval.milliseconds(200)
    /// After this many requests the connection is given up.
    static let cancelAttemptLimit = 50
    /// The number of notifications kept for `takeNotifications`; more drop the oldest and set `lostNotifications`.
    static let notificationLimit = 10_000
    /// The number of bytes of a pipeline that may be queued in libpq before they're sent.
    static let pipelineFlushBytes = 64 * 1024
    /// Statements evicted from the cache are deallocated in batches of this size.
    static let deallocationBatch = 16

    struct CallSite {
        let sql: String
        let file: String
        let line: Int
    }

    let configuration: PostgresConfiguration
    let watch: PostgresSocketWatch
    let logger: Logger
    private let notices: PostgresNotices
    var handle: OpaquePointer?
    private var canceller: PostgresCanceller?
    var encoder = PostgresParameterEncoder()
    var cache: PostgresStatementCache
    /// What occupies the connection between calls (a COPY, a stream).
    var activity: String?
    /// Whether the last row of a COPY OUT was read but not its final result.
    var copyOutEnded = false
    var listens = false
    private(set) var notifications: [PostgresNotification] = []
    private(set) var lostNotifications = false
    /// The number of the running operation, and of cancel requests sent to it.
    private var operation: UInt64 = 0
    private var cancelAttempts = 0
    /// What has arrived for the running operation.
    private var received = PostgresReceived(limit: nil)
    var cursorCount = 0

    init(configuration: PostgresConfiguration, watch: PostgresSocketWatch, logger: Logger) {
        self.configuration = configuration
        self.watch = watch
        self.logger = logger
        notices = PostgresNotices(logger)
        cache = PostgresStatementCache(limit: configuration.preparedStatementLimit)
    }

    deinit { close() }

    // MARK: Opening and closing

    /// Connects within `configuration.connectTimeout`.
    ///
    /// - Throws: `PostgresError`, or `CancellationError` in a cancelled task.
    nonisolated(nonsending) func open(file: String, line: Int) async throws {
        let opening = PostgresOpening(configuration: configuration, notices: notices, file: file, line: line)
        let handle = try await opening.open()
        self.handle = handle
        canceller = PostgresCanceller(handle)
        cache = PostgresStatementCache(limit: configuration.preparedStatementLimit)
    }

    func close() {
        canceller = nil
        if let handle {
            watch.close(PQsocket(handle))
            PQfinish(handle)
        }
        handle = nil
        activity = nil
        copyOutEnded = false
    }

    // MARK: State

    var message: String {
        handle.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "not connected"
    }

    var processID: Int32 {
        handle.map { PQbackendPID($0) } ?? 0
    }

    var socket: Int32 {
        handle.map { PQsocket($0) } ?? -1
    }

    var transactionStatus: PostgresTransactionStatus {
        guard let handle, PQstatus(handle) == CONNECTION_OK else { return .closed }
        switch PQtransactionStatus(handle) {
        case PQTRANS_IDLE: return .idle
        case PQTRANS_INTRANS: return .inTransaction
        case PQTRANS_INERROR: return .inFailedTransaction
        case PQTRANS_ACTIVE: return .active
        default: return .closed
        }
    }

    /// The connection if it can run a statement; throws otherwise.
    func ready(_ site: CallSite) throws -> OpaquePointer {
        if let activity {
            throw PostgresError(
                code: .objectInUse, message: "the connection is busy with \(activity)",
                hint: "Finish it first, or use another connection.", sql: site.sql, file: site.file, line: site.line)
        }
        guard let handle else {
            throw PostgresError(
                code: .connectionDoesNotExist, message: "the connection is closed",
                hint: "Take a new connection from the pool.", sql: site.sql, file: site.file, line: site.line)
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw lost(site) }
        guard !site.sql.utf8.contains(0) else {
            throw PostgresError(
                code: .syntaxError, message: "the SQL text contains the character U+0000",
                hint: "Pass values as parameters.", sql: nil, file: site.file, line: site.line)
        }
        return handle
    }

    /// libpq's error for a connection that failed.
    func lost(_ site: CallSite) -> PostgresError {
        let text = message.trimmedLines
        return PostgresError(
            code: .connectionFailure, message: text.isEmpty ? "the connection was lost" : text,
            hint: "The statement may or may not have run. Open a new connection and repeat the transaction.",
            sql: site.sql, file: site.file, line: site.line)
    }

    func failure(_ result: OpaquePointer, _ site: CallSite) -> PostgresError {
        PostgresError(result: result, sql: site.sql, file: site.file, line: site.line)
    }

    /// Resets per-operation state.
    /// - Returns: the operation's number, by which the watch can interrupt it.
    func beginOperation() -> UInt64 {
        cancelAttempts = 0
        received = PostgresReceived(limit: PostgresResultLimit.bytes)
        operation = watch.begin()
        return operation
    }

    func endOperation() {
        watch.end()
        collectNotifications()
    }

    // MARK: Waiting

    /// Waits until bytes arrive, and reads them, or with `toWrite` until bytes can be sent. It may return without
    /// either; callers loop.
    ///
    /// - Returns: false if the connection is lost; `PQgetResult` may still have the server's last error.
    nonisolated(nonsending) func waitForServer(toWrite: Bool, _ site: CallSite) async throws -> Bool {
        guard let handle else { throw lost(site) }
        while true {
            // A dropped connection has no socket.
            let socket = PQsocket(handle)
            guard socket >= 0 else { return false }
            switch await watch.wait(socket, toWrite: toWrite) {
            case .socket:
                let waiting = try checkedWaitingByteCount(site)
                let isRead = PQconsumeInput(handle) == 1
                if let waiting { received.note(waiting: waiting, left: waitingByteCount ?? 0) }
                return isRead
            case .interrupt: try await sendCancel(site)
            case .failure(let error):
                close()
                throw error
            }
        }
    }

    /// Gives up the connection if more has arrived than the limit allows. COPY and streams are read in parts.
    /// - Returns: the number of bytes waiting to be read, or nil if they aren't counted.
    private func checkedWaitingByteCount(_ site: CallSite) throws -> Int? {
        guard received.isCounted, activity == nil, let waiting = waitingByteCount else { return nil }
        guard received.isTooLarge(received.bytes + waiting) else { return waiting }
        close()
        throw tooLarge(site)
    }

    /// The number of bytes that have arrived but haven't been read.
    private var waitingByteCount: Int? {
        var count: CInt = 0
        return ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : nil
    }

    /// The error of a whole result that exceeds the limit, or nil if it's within the limit.
    func excess(_ result: OpaquePointer, _ site: CallSite) -> PostgresError? {
        received.isTooLarge(PQresultMemorySize(result)) ? tooLarge(site) : nil
    }

    private func tooLarge(_ site: CallSite) -> PostgresError {
        PostgresError(
            code: .resultTooLarge, message: "the result has more bytes than the caller accepts",
            hint: "Ask for fewer rows or columns.", sql: site.sql, file: site.file, line: site.line)
    }

    private nonisolated(nonsending) func sendCancel(_ site: CallSite) async throws {
        cancelAttempts += 1
        guard cancelAttempts <= Self.cancelAttemptLimit else {
            close()
            throw PostgresError(
                code: .connectionFailure, message: "the server ignored cancel requests; connection closed",
                sql: site.sql, file: site.file, line: site.line)
        }
        guard let canceller else { return }
        if let problem = await canceller.cancel() {
            logger.warning("couldn't send a cancel request: \(problem)")
        }
        let (watch, operation) = (watch, operation)
        PostgresCanceller.queue.asyncAfter(deadline: .now() + Self.cancelRepeat) { watch.remind(operation) }
    }

    /// Asks the server to cancel the running statement. The caller then reads to its end.
    nonisolated(nonsending) func cancelFromOwner(_ site: CallSite) async throws {
        try await sendCancel(site)
    }

    /// Sends everything queued, reading meanwhile so that neither side waits for the other.
    nonisolated(nonsending) func flush(_ site: CallSite, whileWaiting: () throws -> Void = {}) async throws {
        guard let handle else { throw lost(site) }
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                guard try await waitForServer(toWrite: true, site) else { throw lastWords(site) }
                try whileWaiting()
            default: throw lastWords(site)
            }
        }
    }

    /// The next result of the running statement, or nil after its last.
    nonisolated(nonsending) func nextResult(_ site: CallSite) async throws -> OpaquePointer? {
        guard let handle else { throw lost(site) }
        while PQisBusy(handle) == 1 {
            guard try await waitForServer(toWrite: false, site) else { throw lastWords(site) }
        }
        return PQgetResult(handle)
    }

    /// After the connection broke, the error that the server sent before, or libpq's own.
    func lastWords(_ site: CallSite) -> PostgresError {
        guard let handle else { return lost(site) }
        var found: PostgresError?
        let text = lost(site)
        // Bounded, since libpq could in theory report the same failure forever.
        for _ in 0..<64 {
            guard let result = PQgetResult(handle) else { break }
            if found == nil, PQresultStatus(result) == PGRES_FATAL_ERROR,
                PQresultErrorField(result, Int32(UInt8(ascii: "C"))) != nil
            {
                found = failure(result, site)
            }
            PQclear(result)
            if PQstatus(handle) == CONNECTION_BAD, found != nil { break }
        }
        return found ?? text
    }

    // MARK: Notifications

    func collectNotifications() {
        guard let handle else { return }
        while let raw = PQnotifies(handle) {
            defer { PQfreemem(raw) }
            guard listens else { continue }
            if notifications.count >= Self.notificationLimit {
                notifications.removeAll()
                lostNotifications = true
            }
            notifications.append(
                PostgresNotification(
                    channel: String(cString: raw.pointee.relname), payload: String(cString: raw.pointee.extra),
                    processID: raw.pointee.be_pid))
        }
    }

    func takeNotifications() -> (notifications: [PostgresNotification], lost: Bool) {
        defer {
            notifications = []
            lostNotifications = false
        }
        return (notifications, lostNotifications)
    }

    /// Waits for at least one notification.
    ///
    /// - Throws: `CancellationError` if interrupted, `PostgresError` if the connection is lost.
    nonisolated(nonsending) func waitForNotifications(_ site: CallSite) async throws {
        let handle = try ready(site)
        listens = true
        collectNotifications()
        while notifications.isEmpty && !lostNotifications {
            let socket = PQsocket(handle)
            guard socket >= 0 else { throw lastWords(site) }
            switch await watch.wait(socket, toWrite: false) {
            case .socket:
                guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw lastWords(site) }
                // An error of an idle connection, such as a server shutdown, arrives as a result.
                collectNotifications()
            case .interrupt: throw CancellationError()
            case .failure(let error): throw error
            }
        }
    }

    /// Reads what arrived while nobody waited, and returns whether the connection still works. A server that shuts down
    /// first says so and then closes; both must be read.
    func checkIdle() -> Bool {
        guard let handle else { return false }
        while PQsocket(handle) >= 0 {
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { break }
            guard PQconsumeInput(handle) == 1 else { return false }
            collectNotifications()
        }
        return PQstatus(handle) == CONNECTION_OK
    }
}
