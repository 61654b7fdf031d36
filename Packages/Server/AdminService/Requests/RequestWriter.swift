import Logging
import PostgresClient
import Synchronization
import TomboloHTTP
import TomboloModel

/// Writes this process's requests into the database in batches. A batch that can't be written is retried before any
/// other; meanwhile, new requests wait in the bounded queue of the ``RequestLog``.
final class RequestWriter: Sendable {
    /// The most requests in one INSERT.
    static let batchSize = 5_000
    /// The time limit for one INSERT.
    static let statementTimeout = Duration.seconds(10)

    private struct State {
        /// Requests that were taken out of the queue and aren't known to be written.
        var batch: [RequestLog.Entry] = []
        /// The id of the batch's first request. It starts at random, so that two processes never use the same ids.
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

    /// Writes all waiting requests. Only one task at a time may call it.
    /// - Returns: false if some couldn't be written and will be retried.
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
                // The batch would be refused again, and hold up all others.
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

    /// Logs the first failure only, until writing works again.
    private func warn(_ error: any Error) {
        guard !(error is CancellationError), !state.withLock({ exchange(&$0.isFailing, true) }) else { return }
        logger.warning(
            "Can't write requests to the log, and some may be missing from it; will try again: \(error)")
    }

    private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
        defer { value = new }
        return value
    }

    /// Idempotent: a second call with the same id writes nothing.
    /// - Parameter id: the first request's id; the others follow consecutively.
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
