extension PostgresConnection {
    /// Runs one statement. From its second use, a statement is prepared and cached.
    ///
    /// - Returns: all rows, in binary form unless `format` says otherwise.
    @discardableResult
    public func query(
        _ sql: String, _ parameters: [PostgresParameter] = [], format: PostgresResultFormat = .binary,
        file: String = #fileID, line: Int = #line
    ) async throws -> PostgresResult {
        try await interruptible { session in
            try await session.query(
                PostgresStatement(sql, parameters), format: format, .init(sql: sql, file: file, line: line))
        }
    }

    /// Runs any number of statements, separated by semicolons and without parameters. Outside a transaction they form
    /// one. Results are in text form.
    @discardableResult
    public func execute(
        _ sql: String, file: String = #fileID, line: Int = #line
    ) async throws -> [PostgresResult] {
        try await interruptible { session in
            try await session.execute(.init(sql: sql, file: file, line: line))
        }
    }

    /// Sends all statements at once and reads their results: one round trip, and one transaction unless one is open.
    /// Any amount of data may go either way. COPY isn't supported.
    ///
    /// - Throws: the first error with its `statementIndex`. Nothing after that statement has run, and outside a
    ///   transaction everything before it is undone. The connection stays usable.
    @discardableResult
    public func pipeline(
        _ statements: [PostgresStatement], format: PostgresResultFormat = .binary,
        file: String = #fileID, line: Int = #line
    ) async throws -> [PostgresResult] {
        try await interruptible { session in
            try await session.pipeline(statements, format: format, file: file, line: line)
        }
    }

    /// Runs a SELECT through a cursor and passes its rows to `body` in batches, fetching the next batch while `body`
    /// runs. Memory is bounded by two batches. Opens a transaction unless one is open.
    ///
    /// `body` can't use this connection. If it throws, the stream ends and the error is rethrown. The caller's own
    /// transaction then stays usable, unless the task is cancelled: that cancels the prefetched rows on the server, and
    /// the transaction can only be rolled back.
    /// - Parameters:
    ///   - batch: the maximum number of rows in a batch.
    ///   - batchByteCount: the approximate maximum of bytes in a batch, estimated from earlier rows; one row always
    ///     fits.
    nonisolated(nonsending) public func stream(
        _ sql: String, _ parameters: [PostgresParameter] = [], batch: Int = 1_000, batchByteCount: Int = 4 << 20,
        file: String = #fileID, line: Int = #line,
        _ body: nonisolated(nonsending) (PostgresResult) async throws -> Void
    ) async throws {
        precondition(batch > 0, "a batch needs at least one row")
        let site = PostgresSession.CallSite(sql: sql, file: file, line: line)
        var cursor = try await interruptible { session in
            try await session.beginStream(
                PostgresStatement(sql, parameters), batch: batch, batchByteCount: batchByteCount, site)
        }
        do {
            var isLast = false
            while !isLast {
                let present = cursor
                let next = try await interruptible { session in
                    var cursor = present
                    let (rows, isLast) = try await session.nextBatch(&cursor, site)
                    return (rows: rows, isLast: isLast, cursor: cursor)
                }
                (isLast, cursor) = (next.isLast, next.cursor)
                if !next.rows.isEmpty { try await body(next.rows) }
            }
        } catch {
            let present = cursor
            // The prefetched rows may take the server minutes. A cancelled task doesn't wait for them.
            try? await cancellable { session in try await session.abortStream(present, site) }
            throw error
        }
    }
}
