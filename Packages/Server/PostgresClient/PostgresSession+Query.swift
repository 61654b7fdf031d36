import CLibPQ

extension PostgresSession {
    /// Runs one statement with the extended protocol.
    nonisolated(nonsending) func query(_ statement: PostgresStatement, format: PostgresResultFormat, _ site: CallSite)
        async throws -> PostgresResult
    {
        do {
            return try await queryOnce(statement, format: format, site)
        } catch let error as PostgresError where canRepeat(error, statement) {
            return try await queryOnce(statement, format: format, site)
        }
    }

    /// Whether a schema change or DISCARD made a prepared statement unusable. Outside a transaction, nothing has
    /// happened yet, so the statement can be repeated.
    private func canRepeat(_ error: PostgresError, _ statement: PostgresStatement) -> Bool {
        forgetIfStale(error, statement) && transactionStatus == .idle
    }

    /// Returns whether a cached statement caused the error, and if so removes it from the cache.
    @discardableResult
    func forgetIfStale(_ error: PostgresError, _ statement: PostgresStatement) -> Bool {
        if error.isStalePlan {
            cache.invalidate(.init(statement.sql, statement.parameters))
            return true
        }
        if error.code == .invalidStatementName, cache.preparedCount > 0 {
            cache.reset()
            return true
        }
        return false
    }

    private nonisolated(nonsending) func queryOnce(
        _ statement: PostgresStatement, format: PostgresResultFormat, _ site: CallSite
    ) async throws -> PostgresResult {
        _ = try ready(site)
        try await deallocateAbandoned(site)
        let key = PostgresStatementCache.Key(statement.sql, statement.parameters)
        let plan = cache.plan(for: key)
        if case .prepare(let name) = plan {
            do {
                try check(sendPrepare(name, statement), site)
                try await flush(site)
                _ = try await onlyResult(site)
            } catch {
                cache.didNotPrepare(key, name: name)
                throw error
            }
        }
        try check(try send(statement, plan, format), site)
        try await flush(site)
        return try await onlyResult(site)
    }

    /// Runs any number of statements with the simple protocol. Values arrive as text.
    nonisolated(nonsending) func execute(_ site: CallSite) async throws -> [PostgresResult] {
        let handle = try ready(site)
        try check(PQsendQuery(handle, site.sql), site)
        try await flush(site)
        return try await allResults(site)
    }

    // MARK: Sending

    func check(_ accepted: Int32, _ site: CallSite) throws {
        guard accepted == 1 else { throw lost(site) }
    }

    func sendPrepare(_ name: String, _ statement: PostgresStatement) -> Int32 {
        guard let handle else { return 0 }
        let oids = statement.parameters.map(\.oid)
        return PQsendPrepare(handle, name, statement.sql, Int32(oids.count), oids)
    }

    func send(
        _ statement: PostgresStatement, _ plan: PostgresStatementCache.Plan, _ format: PostgresResultFormat
    ) throws -> Int32 {
        guard let handle else { return 0 }
        guard statement.parameters.count <= PostgresParameterEncoder.parameterLimit else {
            throw PostgresError(
                code: "54000", message: "\(statement.parameters.count) parameters in one statement",
                hint: "The maximum is \(PostgresParameterEncoder.parameterLimit): pass arrays and use unnest().",
                sql: statement.sql)
        }
        try encoder.encode(statement.parameters)
        return encoder.withArguments { count, oids, values, lengths, formats in
            switch plan {
            case .unnamed:
                PQsendQueryParams(
                    handle, statement.sql, count, oids, values, lengths, formats, format.rawValue)
            case .prepare(let name), .prepared(let name):
                PQsendQueryPrepared(handle, name, count, values, lengths, formats, format.rawValue)
            }
        }
    }

    // MARK: Receiving

    /// Reads the running statement to its end, then throws the first error, if any.
    nonisolated(nonsending) func allResults(_ site: CallSite) async throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        var failed: PostgresError?
        nonisolated(nonsending) func next() async throws -> OpaquePointer? {
            do {
                return try await nextResult(site)
            } catch {
                // The first error of a lost connection has the reason.
                throw failed ?? error
            }
        }
        while let raw = try await next() {
            switch PQresultStatus(raw) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                if let excess = excess(raw, site) {
                    failed = failed ?? excess
                    PQclear(raw)
                } else {
                    results.append(PostgresResult(raw))
                }
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                PQclear(raw)
                // The protocol allows only to end the copy here. Closing the connection is the safe way.
                close()
                throw PostgresError(
                    code: .featureNotSupported, message: "COPY in query or execute; connection closed",
                    hint: "Call copyIn or copyOut instead.", sql: site.sql, file: site.file, line: site.line)
            default:
                if failed == nil { failed = failure(raw, site) }
                PQclear(raw)
            }
        }
        if let failed { throw failed }
        return results
    }

    nonisolated(nonsending) func onlyResult(_ site: CallSite) async throws -> PostgresResult {
        guard let result = try await allResults(site).last else { throw noResult(site) }
        return result
    }

    func noResult(_ site: CallSite) -> PostgresError {
        PostgresError(
            code: .internalError, message: "the server sent no result", sql: site.sql, file: site.file, line: site.line)
    }

    // MARK: Prepared statements

    /// Deallocates statements that were evicted from the cache, once there are enough.
    nonisolated(nonsending) func deallocateAbandoned(_ site: CallSite) async throws {
        guard cache.abandonedNames.count >= Self.deallocationBatch, transactionStatus != .inFailedTransaction else {
            return
        }
        let sql = cache.takeAbandonedNames().map { "DEALLOCATE \($0)" }.joined(separator: ";")
        do {
            _ = try await execute(CallSite(sql: sql, file: site.file, line: site.line))
        } catch let error as PostgresError where error.code == .invalidStatementName {
            if transactionStatus == .inFailedTransaction { throw error }
            cache.reset()
        }
    }
}
