import CLibPQ
import Foundation
import Logging

/// A libpq connection with blocking calls. Not thread-safe: only its connection's actor calls it.
///
/// The socket is always non-blocking. Waiting happens in one `poll` on the socket and the interrupt's pipe, so that
/// cancellation is noticed while the server is silent, and reading continues while a large statement is being sent.
final class PostgresSession {
    /// A cancel request without effect is repeated after this time, since it may have overtaken the statement.
    static let cancelRepeatMilliseconds: Int32 = 200
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
    let interrupt: PostgresInterrupt
    let logger: Logger
    var handle: OpaquePointer?
    private var cancelHandle: OpaquePointer?
    private let descriptors = UnsafeMutablePointer<pollfd>.allocate(capacity: 2)
    var encoder = PostgresParameterEncoder()
    var cache: PostgresStatementCache
    /// What occupies the connection between calls (a COPY, a stream).
    var activity: String?
    /// Whether the last row of a COPY OUT was read but not its final result.
    var copyOutEnded = false
    var listens = false
    private(set) var notifications: [PostgresNotification] = []
    private(set) var lostNotifications = false
    /// The number of cancel requests sent to the running operation.
    private var cancelAttempts = 0
    var cursorCount = 0

    init(configuration: PostgresConfiguration, interrupt: PostgresInterrupt, logger: Logger) {
        self.configuration = configuration
        self.interrupt = interrupt
        self.logger = logger
        cache = PostgresStatementCache(limit: configuration.preparedStatementLimit)
    }

    deinit {
        close()
        descriptors.deallocate()
    }

    // MARK: Opening and closing

    /// Connects within `configuration.connectTimeout`.
    ///
    /// - Throws: `PostgresError`, or `CancellationError` if interrupted.
    func open(file: String, line: Int) throws {
        let pairs = configuration.connectionKeywords
        var keys = pairs.map { UnsafePointer(strdup($0.0)) }
        var values = pairs.map { UnsafePointer(strdup($0.1)) }
        defer {
            for string in keys + values { free(UnsafeMutablePointer(mutating: string)) }
        }
        keys.append(nil)
        values.append(nil)
        guard let handle = PQconnectStartParams(keys, values, 0) else {
            throw PostgresError(
                code: .insufficientResources, message: "libpq couldn't allocate a connection", file: file, line: line)
        }
        self.handle = handle
        // Until the connection is open, only the verbose text has the SQLSTATE.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeProcessor(
            handle,
            { context, message in
                guard let context, let message else { return }
                let session = Unmanaged<PostgresSession>.fromOpaque(context).takeUnretainedValue()
                session.logger.debug("PostgreSQL: \(String(cString: message).trimmedLines)")
            }, Unmanaged.passUnretained(self).toOpaque())
        do {
            try finishConnecting(handle, file: file, line: line)
        } catch {
            close()
            throw error
        }
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
        guard PQsetnonblocking(handle, 1) == 0 else {
            let error = PostgresError(connecting: message, file: file, line: line)
            close()
            throw error
        }
        cancelHandle = PQgetCancel(handle)
        cache = PostgresStatementCache(limit: configuration.preparedStatementLimit)
    }

    private func finishConnecting(_ handle: OpaquePointer, file: String, line: Int) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + configuration.connectTimeout
        var state = PGRES_POLLING_WRITING
        guard PQstatus(handle) != CONNECTION_BAD else {
            throw PostgresError(connecting: message, file: file, line: line)
        }
        while state != PGRES_POLLING_OK {
            if state == PGRES_POLLING_FAILED {
                throw PostgresError(connecting: message, file: file, line: line)
            }
            let left = clock.now.duration(to: deadline)
            guard left > .zero else {
                throw PostgresError(
                    code: .unableToConnect,
                    message: "no connection within \(configuration.connectTimeout)",
                    hint: "Check host and port, or raise connectTimeout.", file: file, line: line)
            }
            let events = Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            let ready = poll(events, timeoutMilliseconds: Int32(clamping: left.wholeMilliseconds))
            if ready.interrupted {
                interrupt.drain()
                throw CancellationError()
            }
            if ready.socket { state = PQconnectPoll(handle) }
        }
    }

    func close() {
        if let cancelHandle { PQfreeCancel(cancelHandle) }
        cancelHandle = nil
        if let handle { PQfinish(handle) }
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
    func beginOperation() {
        cancelAttempts = 0
        interrupt.begin()
    }

    func endOperation() {
        interrupt.end()
        collectNotifications()
    }

    // MARK: Waiting

    private struct Readiness {
        var socket = false
        var interrupted = false
    }

    private func poll(_ events: Int16, timeoutMilliseconds: Int32) -> Readiness {
        descriptors[0] = pollfd(fd: handle.map { PQsocket($0) } ?? -1, events: events, revents: 0)
        descriptors[1] = pollfd(fd: interrupt.readDescriptor, events: Int16(POLLIN), revents: 0)
        // A signal ends the wait early; callers loop.
        guard Foundation.poll(descriptors, 2, timeoutMilliseconds) > 0 else { return Readiness() }
        return Readiness(socket: descriptors[0].revents != 0, interrupted: descriptors[1].revents != 0)
    }

    /// Waits until bytes arrive, and reads them, or with `toWrite` until bytes can be sent.
    ///
    /// - Returns: false if the connection is lost; `PQgetResult` may still have the server's last error.
    func waitForServer(toWrite: Bool, _ site: CallSite) throws -> Bool {
        guard let handle else { throw lost(site) }
        while true {
            // A dropped connection has no socket, and `poll` would wait for it forever.
            guard PQsocket(handle) >= 0 else { return false }
            let timeout = cancelAttempts > 0 ? Self.cancelRepeatMilliseconds : -1
            let ready = poll(Int16(POLLIN | (toWrite ? POLLOUT : 0)), timeoutMilliseconds: timeout)
            if ready.socket {
                if descriptors[0].revents & ~Int16(POLLOUT) != 0 { return PQconsumeInput(handle) == 1 }
                return true
            }
            if ready.interrupted {
                interrupt.drain()
                try sendCancel(site)
            } else if cancelAttempts > 0 {
                try sendCancel(site)
            }
        }
    }

    private func sendCancel(_ site: CallSite) throws {
        cancelAttempts += 1
        guard cancelAttempts <= Self.cancelAttemptLimit else {
            close()
            throw PostgresError(
                code: .connectionFailure, message: "the server ignored cancel requests; connection closed",
                sql: site.sql, file: site.file, line: site.line)
        }
        guard let cancelHandle else { return }
        var text = [CChar](repeating: 0, count: 256)
        if PQcancel(cancelHandle, &text, Int32(text.count)) == 0 {
            let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            logger.warning("couldn't send a cancel request: \(reason.trimmedLines)")
        }
    }

    /// Asks the server to cancel the running statement. The caller then reads to its end.
    func cancelFromOwner(_ site: CallSite) throws {
        try sendCancel(site)
    }

    /// Sends everything queued, reading meanwhile so that neither side waits for the other.
    func flush(_ site: CallSite, whileWaiting: () throws -> Void = {}) throws {
        guard let handle else { throw lost(site) }
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                guard try waitForServer(toWrite: true, site) else { throw lastWords(site) }
                try whileWaiting()
            default: throw lastWords(site)
            }
        }
    }

    /// The next result of the running statement, or nil after its last.
    func nextResult(_ site: CallSite) throws -> OpaquePointer? {
        guard let handle else { throw lost(site) }
        while PQisBusy(handle) == 1 {
            guard try waitForServer(toWrite: false, site) else { throw lastWords(site) }
        }
        return PQgetResult(handle)
    }

    /// After the connection broke, the error that the server sent before, or libpq's own.
    private func lastWords(_ site: CallSite) -> PostgresError {
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
    func waitForNotifications(_ site: CallSite) throws {
        let handle = try ready(site)
        listens = true
        collectNotifications()
        while notifications.isEmpty && !lostNotifications {
            guard PQsocket(handle) >= 0 else { throw lastWords(site) }
            let ready = poll(Int16(POLLIN), timeoutMilliseconds: -1)
            if ready.interrupted {
                interrupt.drain()
                throw CancellationError()
            }
            if ready.socket {
                guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw lastWords(site) }
                // An error of an idle connection, such as a server shutdown, arrives as a result.
                collectNotifications()
            }
        }
    }

    /// Reads what arrived while nobody waited, and returns whether the connection still works. A server that shuts down
    /// first says so and then closes; both must be read.
    func checkIdle() -> Bool {
        guard let handle else { return false }
        while PQsocket(handle) >= 0, poll(Int16(POLLIN), timeoutMilliseconds: 0).socket {
            guard PQconsumeInput(handle) == 1 else { return false }
            collectNotifications()
        }
        return PQstatus(handle) == CONNECTION_OK
    }
}
