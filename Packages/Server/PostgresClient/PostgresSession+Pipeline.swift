import CLibPQ

extension PostgresSession {
    /// The answers expected from the server, in order.
    private enum Expected {
        case prepare(PostgresStatementCache.Key, name: String)
        case statement(Int)
    }

    /// The state of one pipeline. Answers are read while statements are still being sent.
    private struct Pipeline {
        var expected: [Expected] = []
        /// The number of complete answers: libpq returns a null result after each.
        var answered = 0
        var results: [PostgresResult] = []
        var error: PostgresError?
        /// Whether the answer to the sync has arrived, so that everything before it is complete.
        var isSynced = false
    }

    /// Sends all statements without waiting for answers, and one sync at the end, so that outside a transaction they
    /// form one.
    ///
    /// - Throws: the first error, with `statementIndex`; nothing after it has run.
    nonisolated(nonsending) func pipeline(
        _ statements: [PostgresStatement], format: PostgresResultFormat, file: String, line: Int
    ) async throws -> [PostgresResult] {
        guard !statements.isEmpty else { return [] }
        let site = CallSite(sql: "(pipeline of \(statements.count) statements)", file: file, line: line)
        let handle = try ready(site)
        try await deallocateAbandoned(site)
        for (index, statement) in statements.enumerated() where statement.sql.utf8.contains(0) {
            var error = PostgresError(
                code: .syntaxError, message: "the SQL text contains the character U+0000",
                hint: "Pass values as parameters.", file: file, line: line)
            error.statementIndex = index
            throw error
        }
        try check(PQenterPipelineMode(handle), site)
        var run = Pipeline()
        run.results.reserveCapacity(statements.count)
        var unsentBytes = 0
        do {
            for (index, statement) in statements.enumerated() where run.error == nil {
                let key = PostgresStatementCache.Key(statement.sql, statement.parameters)
                let plan = cache.plan(for: key)
                if case .prepare(let name) = plan {
                    try check(sendPrepare(name, statement), site)
                    run.expected.append(.prepare(key, name: name))
                }
                do {
                    try check(try send(statement, plan, format), site)
                } catch var error as PostgresError where error.code != .connectionFailure {
                    // The statement can't be encoded, so neither it nor anything after it is sent.
                    error.statementIndex = index
                    error.file = file
                    error.line = line
                    error.sql = statement.sql
                    run.error = error
                    try abortPipeline(handle, site)
                    run.expected.append(.statement(index))
                    break
                }
                run.expected.append(.statement(index))
                unsentBytes += encoder.byteCount + statement.sql.utf8.count
                if unsentBytes >= Self.pipelineFlushBytes {
                    unsentBytes = 0
                    try await flush(site) { try takeAnswers(&run, handle, statements, site) }
                    try takeAnswers(&run, handle, statements, site)
                }
            }
            try check(PQpipelineSync(handle), site)
            try await flush(site) { try takeAnswers(&run, handle, statements, site) }
            try takeAnswers(&run, handle, statements, site, toSync: true)
            while !run.isSynced {
                guard try await waitForServer(toWrite: false, site) else { throw run.error ?? lastWords(site) }
                try takeAnswers(&run, handle, statements, site, toSync: true)
            }
            try check(PQexitPipelineMode(handle), site)
        } catch {
            // Only reached if the connection is lost: answers no longer match questions.
            close()
            throw run.error ?? error
        }
        if let error = run.error { throw error }
        return run.results
    }

    /// Makes the server fail, so that it rolls back everything sent before, as after any other error.
    private func abortPipeline(_ handle: OpaquePointer, _ site: CallSite) throws {
        try check(PQsendQueryParams(handle, "ABORT PIPELINE", 0, nil, nil, nil, nil, 1), site)
    }

    /// Reads the answers that have arrived.
    /// - Parameter toSync: whether the sync has been sent, so that its answer is to be read too.
    private func takeAnswers(
        _ run: inout Pipeline, _ handle: OpaquePointer, _ statements: [PostgresStatement], _ site: CallSite,
        toSync: Bool = false
    ) throws {
        while toSync ? !run.isSynced : run.answered < run.expected.count {
            if PQisBusy(handle) == 1 { return }
            guard let raw = PQgetResult(handle) else {
                if PQstatus(handle) == CONNECTION_BAD { throw run.error ?? lost(site) }
                if run.answered < run.expected.count { run.answered += 1 }
                continue
            }
            let status = PQresultStatus(raw)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(raw)
                run.isSynced = true
                return
            }
            guard run.answered < run.expected.count else {
                // After the last answer, only an error of the implicit commit can follow (a deferred constraint).
                if run.error == nil, status == PGRES_FATAL_ERROR { run.error = failure(raw, site) }
                PQclear(raw)
                if PQstatus(handle) == CONNECTION_BAD { throw lost(site) }
                continue
            }
            takeAnswer(raw, status, &run, statements, site)
            // The server closed the connection, so no sync will arrive.
            if PQstatus(handle) == CONNECTION_BAD { throw run.error ?? lost(site) }
        }
    }

    private func takeAnswer(
        _ raw: OpaquePointer, _ status: ExecStatusType, _ run: inout Pipeline, _ statements: [PostgresStatement],
        _ site: CallSite
    ) {
        switch (run.expected[run.answered], status) {
        case (.prepare, PGRES_COMMAND_OK):
            PQclear(raw)
        case (.statement(let index), PGRES_COMMAND_OK), (.statement(let index), PGRES_TUPLES_OK),
            (.statement(let index), PGRES_EMPTY_QUERY):
            if var excess = excess(raw, CallSite(sql: statements[index].sql, file: site.file, line: site.line)) {
                excess.statementIndex = index
                run.error = run.error ?? excess
                PQclear(raw)
            } else {
                run.results.append(PostgresResult(raw))
            }
        case (let expected, _):
            if case .prepare(let key, let name) = expected { cache.didNotPrepare(key, name: name) }
            if run.error == nil, status != PGRES_PIPELINE_ABORTED {
                let index =
                    switch run.expected[run.answered...].first(where: {
                        if case .statement = $0 { true } else { false }
                    }) {
                    case .statement(let index): index
                    default: 0
                    }
                let failedSite = CallSite(sql: statements[index].sql, file: site.file, line: site.line)
                var error = failure(raw, failedSite)
                error.statementIndex = index
                forgetIfStale(error, statements[index])
                run.error = error
            }
            PQclear(raw)
        }
    }
}
