import CLibPQ

extension PostgresSession {
    /// The number of rows in a stream's first batch, and the factor by which the next may be larger than the last.
    static let firstBatch = 64
    static let batchGrowth = 16

    struct Cursor: Sendable {
        let name: String
        /// The maximum number of rows and the approximate maximum of bytes in a batch.
        let batch: Int
        let batchByteCount: Int
        /// Whether the stream opened the transaction, and so ends it.
        let ownsTransaction: Bool
        /// The number of rows requested for the current batch: few at first, then as many as should fit, judged by
        /// the size of earlier rows.
        var asked = PostgresSession.firstBatch
        /// The number of those received so far. A batch ends early if its rows are larger than earlier ones.
        var received = 0

        var fetch: PostgresStatement {
            PostgresStatement("FETCH FORWARD \(asked) FROM \(name)")
        }

        /// Sets the number of rows to request next, assuming that they're as large as these.
        mutating func adapt(to result: PostgresResult) {
            guard !result.isEmpty else { return }
            let rowSize = max(1, result.byteCount / result.count)
            asked = max(1, min(batch, batchByteCount / rowSize, asked * PostgresSession.batchGrowth))
        }
    }

    /// Opens a cursor and requests its first rows.
    nonisolated(nonsending) func beginStream(
        _ statement: PostgresStatement, batch: Int, batchByteCount: Int, _ site: CallSite
    ) async throws -> Cursor {
        _ = try ready(site)
        let ownsTransaction = transactionStatus == .idle
        cursorCount += 1
        var cursor = Cursor(
            name: "stream\(cursorCount)", batch: batch, batchByteCount: batchByteCount, ownsTransaction: ownsTransaction
        )
        cursor.asked = min(cursor.asked, batch)
        if ownsTransaction { _ = try await execute(CallSite(sql: "BEGIN", file: site.file, line: site.line)) }
        do {
            let declare = PostgresStatement(
                "DECLARE \(cursor.name) NO SCROLL CURSOR FOR \(statement.sql)", statement.parameters)
            try check(try send(declare, .unnamed, .binary), site)
            try await flush(site)
            _ = try await onlyResult(site)
            try await sendFetch(cursor, site)
        } catch {
            if ownsTransaction { _ = try? await execute(CallSite(sql: "ROLLBACK", file: site.file, line: site.line)) }
            throw error
        }
        activity = "a stream"
        return cursor
    }

    /// Requests rows, which arrive one at a time because together they may be of any size.
    private nonisolated(nonsending) func sendFetch(_ cursor: Cursor, _ site: CallSite) async throws {
        let isSent = try send(cursor.fetch, .unnamed, .binary)
        try check(isSent, site)
        guard let handle, PQsetSingleRowMode(handle) == 1 else { throw lost(site) }
        try await flush(site)
    }

    /// Returns requested rows of up to ``Cursor/batchByteCount`` bytes. Once all have arrived, requests the next
    /// batch, so that the server works while the caller does.
    ///
    /// - Returns: the rows, possibly none, and whether they're the last. If they are, the stream is closed.
    nonisolated(nonsending) func nextBatch(_ cursor: inout Cursor, _ site: CallSite) async throws -> (
        rows: PostgresResult, isLast: Bool
    ) {
        let batch: (rows: PostgresResult, isLast: Bool)
        do {
            batch = try await collectBatch(&cursor, site)
        } catch {
            activity = nil
            if cursor.ownsTransaction, handle != nil {
                _ = try? await execute(CallSite(sql: "ROLLBACK", file: site.file, line: site.line))
            }
            throw error
        }
        if batch.isLast { try await finishStream(cursor, commit: true, site) }
        return batch
    }

    private nonisolated(nonsending) func collectBatch(
        _ cursor: inout Cursor, _ site: CallSite
    ) async throws -> (rows: PostgresResult, isLast: Bool) {
        let rows = PostgresRowCollector()
        while true {
            guard let raw = try await nextResult(site) else { throw noResult(site) }
            switch PQresultStatus(raw) {
            case PGRES_SINGLE_TUPLE:
                cursor.received += 1
                guard rows.append(raw) else {
                    try await discardRows(site)
                    throw PostgresError(
                        code: .outOfMemory, message: "out of memory for a streamed row", sql: site.sql, file: site.file,
                        line: site.line)
                }
                if rows.byteCount >= cursor.batchByteCount, let batch = rows.finish() { return (batch, false) }
            case PGRES_TUPLES_OK:
                // The result after the last requested row. It has no rows itself.
                let end = PostgresResult(raw)
                try await discardRows(site)
                // A short batch is the last.
                guard cursor.received >= cursor.asked else { return (rows.finish() ?? end, true) }
                cursor.received = 0
                let batch = rows.finish()
                if let batch { cursor.adapt(to: batch) }
                try await sendFetch(cursor, site)
                if let batch { return (batch, false) }
            default:
                let error = failure(raw, site)
                PQclear(raw)
                try? await discardRows(site)
                throw error
            }
        }
    }

    /// Ends the stream early.
    nonisolated(nonsending) func abortStream(_ cursor: Cursor, _ site: CallSite) async throws {
        guard activity != nil else { return }
        // Skips the last requested rows, at most one batch. The caller's own transaction must stay usable, unless its
        // task was cancelled, which cancels the statement too.
        if cursor.ownsTransaction { try await cancelFromOwner(site) }
        do {
            try await discardRows(site)
        } catch let error as PostgresError where error.code == .queryCanceled {
            guard cursor.ownsTransaction else {
                activity = nil
                throw error
            }
        }
        try await finishStream(cursor, commit: false, site)
    }

    /// Reads and discards the rest of the running statement, then throws the first error, if any.
    private nonisolated(nonsending) func discardRows(_ site: CallSite) async throws {
        var failed: PostgresError?
        while let raw = try await nextResult(site) {
            switch PQresultStatus(raw) {
            case PGRES_SINGLE_TUPLE, PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
            default: if failed == nil { failed = failure(raw, site) }
            }
            PQclear(raw)
        }
        if let failed { throw failed }
    }

    private nonisolated(nonsending) func finishStream(_ cursor: Cursor, commit: Bool, _ site: CallSite) async throws {
        activity = nil
        let sql = cursor.ownsTransaction ? (commit ? "COMMIT" : "ROLLBACK") : "CLOSE \(cursor.name)"
        _ = try await execute(CallSite(sql: sql, file: site.file, line: site.line))
    }
}
