import Logging
import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloModel

/// Writes the requests of this process into the database, a batch at a time. A batch that can't be written now is tried again
/// before any other: what comes meanwhile waits in the queue of the ``RequestLog``, which has a bound.
final class RequestWriter: Sendable {
    /// Requests in one INSERT at most.
    static let batchSize = 5_000
    /// How long one INSERT may take.
    static let statementTimeout = Duration.seconds(10)

    private struct State {
        /// What was taken out of the queue and isn't known to be written.
        var batch: [RequestLog.Entry] = []
        /// Of the batch's first request. It begins anywhere, so that two processes never have the same ones.
        var id = Int64.random(in: 0..<(1 << 62))
        var isFailing = false
    }

    private let requests: KeptRequests
    private let logger: Logger
    private let state = Mutex(State())

    init(_ requests: KeptRequests, logger: Logger) {
        self.requests = requests
        self.logger = logger
    }

    /// Writes all that waits. One task at a time may call it.
    /// - Returns: false if some of it couldn't be written, and will be tried again.
    func writeAll() async -> Bool {
        while true {
            let (batch, id) = state.withLock { state in
                if state.batch.isEmpty { state.batch = requests.log.takeQueued(Self.batchSize) }
                return (state.batch, state.id)
            }
            guard !batch.isEmpty else { return true }
            do {
                try await write(batch, id)
                done(batch.count)
            } catch let error as PostgresError where !error.isRetryable {
                // It would be refused again, and keep all others waiting.
                warn(error)
                requests.log.giveUp(batch.count)
                leave(batch.count)
            } catch {
                warn(error)
                return false
            }
        }
    }

    private func done(_ count: Int) {
        leave(count)
        if state.withLock({ exchange(&$0.isFailing, false) }) { logger.info("Requests are written to the log again.") }
    }

    private func leave(_ count: Int) {
        state.withLock { state in
            state.batch = []
            state.id += Int64(count)
        }
    }

    /// Once, until it works again.
    private func warn(_ error: any Error) {
        guard !(error is CancellationError), !state.withLock({ exchange(&$0.isFailing, true) }) else { return }
        logger.warning(
            "Requests can't be written to the log, which will be tried again; some may be missing from it: \(error)")
    }

    private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
        defer { value = new }
        return value
    }

    /// Once only, even if it's called again with the same id.
    /// - Parameter id: of the first request; the others follow.
    func write(_ batch: [RequestLog.Entry], _ id: Int64) async throws {
        try await requests.pool.transaction { connection in
            try await connection.limitStatements(to: Self.statementTimeout.patient)
            try await connection.query(
                """
                INSERT INTO tombolo.request_entry
                    (server, at, id, request_id, method, route, status, took_microseconds, user_id, address)
                SELECT $1, e.* FROM unnest($2::timestamptz[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                    $7::integer[], $8::bigint[], $9::bytea[], $10::text[]) AS e
                ON CONFLICT DO NOTHING
                """,
                [
                    .text(requests.server), .timestamptzArray(microseconds: batch.map(\.time)),
                    .int64Array(batch.indices.map { id + Int64($0) }), .textArray(batch.map(\.requestID)),
                    .textArray(batch.map(\.method)), .textArray(batch.map(\.route)),
                    .int32Array(batch.map { Int32(clamping: $0.status) }),
                    .int64Array(batch.map { Int64(($0.duration / .microseconds(1)).rounded()) }),
                    .byteaArray(batch.map { $0.userID?.bytes }), .textArray(batch.map(\.address)),
                ])
        }
    }
}
