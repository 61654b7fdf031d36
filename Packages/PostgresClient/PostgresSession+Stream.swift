import CLibPQ

extension PostgresSession {
    /// Rows of a stream's first batch, and how much larger than the last the next one may be.
    static let firstBatch = 64
    static let batchGrowth = 16

    struct Cursor: Sendable {
        let name: String
        /// The most rows and about the most bytes of a batch.
        let batch: Int
        let batchByteCount: Int
        /// The stream opened the transaction and ends it.
        let ownsTransaction: Bool
        /// Rows that the batch under way was asked to have: few at first, then as many as fit by the size of the last.
        var asked = PostgresSession.firstBatch

        var fetch: PostgresStatement {
            PostgresStatement("FETCH FORWARD \(asked) FROM \(name)")
        }

        /// Asks for so many rows next as will fit if they are like these.
        mutating func adapt(to result: PostgresResult) {
            guard !result.isEmpty else { return }
            let rowSize = max(1, result.byteCount / result.count)
            asked = max(1, min(batch, batchByteCount / rowSize, asked * PostgresSession.batchGrowth))
        }
    }

    /// Opens a cursor and asks for its first rows.
    func beginStream(
        _ statement: PostgresStatement, batch: Int, batchByteCount: Int, _ site: CallSite
    ) throws -> Cursor {
        _ = try ready(site)
        let ownsTransaction = transactionStatus == .idle
        cursorCount += 1
        var cursor = Cursor(
            name: "stream\(cursorCount)", batch: batch, batchByteCount: batchByteCount, ownsTransaction: ownsTransaction
        )
        cursor.asked = min(cursor.asked, batch)
        if ownsTransaction { _ = try execute(CallSite(sql: "BEGIN", file: site.file, line: site.line)) }
        do {
            let declare = PostgresStatement(
                "DECLARE \(cursor.name) NO SCROLL CURSOR FOR \(statement.sql)", statement.parameters)
            try check(try send(declare, .unnamed, .binary), site)
            try flush(site)
            _ = try onlyResult(site)
            try sendFetch(cursor, site)
        } catch {
            if ownsTransaction { _ = try? execute(CallSite(sql: "ROLLBACK", file: site.file, line: site.line)) }
            throw error
        }
        activity = "a stream"
        return cursor
    }

    private func sendFetch(_ cursor: Cursor, _ site: CallSite) throws {
        try check(try send(cursor.fetch, .unnamed, .binary), site)
        try flush(site)
    }

    /// The rows asked for before; then asks for the next, so that the server works while the caller does.
    ///
    /// - Returns: the rows, none perhaps, and whether they are the last; the stream is closed then.
    func nextBatch(_ cursor: inout Cursor, _ site: CallSite) throws -> (rows: PostgresResult, isLast: Bool) {
        let result: PostgresResult
        do {
            result = try onlyResult(site)
            if result.count == cursor.asked {
                cursor.adapt(to: result)
                try sendFetch(cursor, site)
                return (result, false)
            }
        } catch {
            activity = nil
            if cursor.ownsTransaction, handle != nil {
                _ = try? execute(CallSite(sql: "ROLLBACK", file: site.file, line: site.line))
            }
            throw error
        }
        // A short batch is the last.
        try finishStream(cursor, commit: true, site)
        return (result, true)
    }

    /// Gives the stream up before its end.
    func abortStream(_ cursor: Cursor, _ site: CallSite) throws {
        guard activity != nil else { return }
        // The rows asked for last: at most one batch. A transaction of the caller's own must stay usable.
        if cursor.ownsTransaction { try cancelFromOwner(site) }
        do {
            _ = try onlyResult(site)
        } catch let error as PostgresError where error.code == .queryCanceled && cursor.ownsTransaction {}
        try finishStream(cursor, commit: false, site)
    }

    private func finishStream(_ cursor: Cursor, commit: Bool, _ site: CallSite) throws {
        activity = nil
        let sql = cursor.ownsTransaction ? (commit ? "COMMIT" : "ROLLBACK") : "CLOSE \(cursor.name)"
        _ = try execute(CallSite(sql: sql, file: site.file, line: site.line))
    }
}
