import CLibPQ

extension PostgresSession {
    struct Cursor {
        let name: String
        let batch: Int
        /// The stream opened the transaction and ends it.
        let ownsTransaction: Bool

        var fetch: PostgresStatement {
            PostgresStatement("FETCH FORWARD \(batch) FROM \(name)")
        }
    }

    /// Opens a cursor and asks for its first rows.
    func beginStream(_ statement: PostgresStatement, batch: Int, _ site: CallSite) throws -> Cursor {
        _ = try ready(site)
        let ownsTransaction = transactionStatus == .idle
        cursorCount += 1
        let cursor = Cursor(name: "stream\(cursorCount)", batch: batch, ownsTransaction: ownsTransaction)
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
    /// - Returns: `nil` after the last row; the stream is then closed.
    func nextBatch(_ cursor: Cursor, _ site: CallSite) throws -> PostgresResult? {
        let result: PostgresResult
        do {
            result = try onlyResult(site)
            if result.count == cursor.batch {
                try sendFetch(cursor, site)
                return result
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
        return result.isEmpty ? nil : result
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
