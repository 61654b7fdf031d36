import CLibPQ
import Dispatch
import Foundation

/// Opens a connection. This occupies a thread while it lasts, because libpq blocks on name resolution and the
/// handshake may take many steps. Nothing here limits how many run at once; that's up to the pools and listeners that
/// open connections.
struct PostgresOpening: Sendable {
    /// How soon a cancelled task is noticed, in milliseconds.
    static let cancellationCheckMilliseconds: Int64 = 50
    private static let queue = DispatchQueue(label: "postgres-opening", attributes: .concurrent)

    let configuration: PostgresConfiguration
    let notices: PostgresNotices
    let file: String
    let line: Int

    /// An open connection on its way to its session. Unchecked because nothing else has a reference to it.
    private struct Opened: @unchecked Sendable {
        let handle: OpaquePointer
    }

    /// Connects within `configuration.connectTimeout`.
    ///
    /// - Returns: a connection in libpq's non-blocking mode.
    /// - Throws: `PostgresError`, or `CancellationError` in a cancelled task.
    nonisolated(nonsending) func open() async throws -> OpaquePointer {
        let isCancelled = Locked(false)
        let opened = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Self.queue.async {
                    continuation.resume(
                        with: Result { Opened(handle: try connect { isCancelled.withLock { $0 } }) })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return opened.handle
    }

    private func connect(_ isCancelled: () -> Bool) throws -> OpaquePointer {
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
        do {
            // Until the connection is open, only the verbose text has the SQLSTATE.
            PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
            notices.receive(from: handle)
            try finishConnecting(handle, isCancelled)
            PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
            guard PQsetnonblocking(handle, 1) == 0 else { throw failure(handle) }
            return handle
        } catch {
            PQfinish(handle)
            throw error
        }
    }

    private func finishConnecting(_ handle: OpaquePointer, _ isCancelled: () -> Bool) throws {
        let clock = ContinuousClock()
        let deadline = clock.now + configuration.connectTimeout
        var state = PGRES_POLLING_WRITING
        guard PQstatus(handle) != CONNECTION_BAD else { throw failure(handle) }
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else { throw failure(handle) }
            guard !isCancelled() else { throw CancellationError() }
            let left = clock.now.duration(to: deadline)
            guard left > .zero else {
                throw PostgresError(
                    code: .unableToConnect,
                    message: "no connection within \(configuration.connectTimeout)",
                    hint: "Check host and port, or raise connectTimeout.", file: file, line: line)
            }
            var descriptor = pollfd(
                fd: PQsocket(handle), events: Int16(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            // A signal ends the wait early.
            guard
                poll(&descriptor, 1, Int32(min(left.wholeMilliseconds, Self.cancellationCheckMilliseconds))) > 0
            else { continue }
            state = PQconnectPoll(handle)
        }
    }

    private func failure(_ handle: OpaquePointer) -> PostgresError {
        PostgresError(
            connecting: PQerrorMessage(handle).map { String(cString: $0) } ?? "", file: file, line: line)
    }
}
