extension PostgresConnection {
    /// Runs one statement. A text that comes again is prepared and kept.
    ///
    /// - Returns: all its rows, in binary form unless `format` says otherwise.
    @discardableResult
    public func query(
        _ sql: String, _ parameters: [PostgresParameter] = [], format: PostgresResultFormat = .binary,
        file: String = #fileID, line: Int = #line
    ) async throws -> PostgresResult {
        try await interruptible { session in
            try session.query(
                PostgresStatement(sql, parameters), format: format, .init(sql: sql, file: file, line: line))
        }
    }

    /// Runs any number of statements, separated by semicolons and without parameters; outside a transaction they form
    /// one. Values of their results are in text form.
    @discardableResult
    public func execute(
        _ sql: String, file: String = #fileID, line: Int = #line
    ) async throws -> [PostgresResult] {
        try await interruptible { session in
            try session.execute(.init(sql: sql, file: file, line: line))
        }
    }

    /// Sends all statements at once and reads their results: one round trip, and one transaction unless one is open.
    /// Any amount of data may go both ways. COPY is not possible here.
    ///
    /// - Throws: the first error with its `statementIndex`; nothing after it has run, and outside a transaction nothing
    ///   before it either. The connection stays usable.
    @discardableResult
    public func pipeline(
        _ statements: [PostgresStatement], format: PostgresResultFormat = .binary,
        file: String = #fileID, line: Int = #line
    ) async throws -> [PostgresResult] {
        try await interruptible { session in
            try session.pipeline(statements, format: format, file: file, line: line)
        }
    }

    /// Runs a SELECT through a cursor and hands its rows over in batches; the next batch is fetched while `body`
    /// works. Memory is bounded by two batches. Opens a transaction unless one is open.
    ///
    /// `body` cannot use this connection. When it throws, the stream ends and the error is passed on. A transaction of
    /// the caller's own stays usable then, unless the task is cancelled: the rows asked for ahead are cancelled on the
    /// server, and the transaction can only be rolled back.
    /// - Parameters:
    ///   - batch: the most rows of a batch.
    ///   - batchByteCount: about the most bytes of a batch, judged by the rows before; one row always fits.
    nonisolated(nonsending) public func stream(
        _ sql: String, _ parameters: [PostgresParameter] = [], batch: Int = 1_000, batchByteCount: Int = 4 << 20,
        file: String = #fileID, line: Int = #line,
        _ body: nonisolated(nonsending) (PostgresResult) async throws -> Void
    ) async throws {
        precondition(batch > 0, "a batch needs at least one row")
        let site = PostgresSession.CallSite(sql: sql, file: file, line: line)
        var cursor = try await interruptible { session in
            try session.beginStream(
                PostgresStatement(sql, parameters), batch: batch, batchByteCount: batchByteCount, site)
        }
        do {
            var isLast = false
            while !isLast {
                let present = cursor
                let next = try await interruptible { session in
                    var cursor = present
                    let (rows, isLast) = try session.nextBatch(&cursor, site)
                    return (rows: rows, isLast: isLast, cursor: cursor)
                }
                (isLast, cursor) = (next.isLast, next.cursor)
                if !next.rows.isEmpty { try await body(next.rows) }
            }
        } catch {
            let present = cursor
            // The rows asked for ahead may take the server minutes: a cancelled task does not wait for them.
            try? await cancellable { session in try session.abortStream(present, site) }
            throw error
        }
    }
}
