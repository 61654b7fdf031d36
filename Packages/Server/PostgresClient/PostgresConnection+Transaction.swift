extension PostgresConnection {
    /// Runs `body` in a transaction: COMMIT if it returns, ROLLBACK if it throws or the task is cancelled.
    ///
    /// `body` must use the connection it's given, and no other task may use it meanwhile. Nothing is retried: the
    /// caller decides by `PostgresError.isRetryable`. Losing the connection during COMMIT throws error 08007: the
    /// transaction may or may not have been committed.
    @discardableResult
    nonisolated(nonsending) public func transaction<R>(
        isolation: PostgresIsolation? = nil, readOnly: Bool = false,
        file: String = #fileID, line: Int = #line,
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        try checkNoTransaction(file: file, line: line)
        try await execute(Self.begin(isolation, readOnly: readOnly), file: file, line: line)
        let result: R
        do {
            result = try await body(self)
            try Task.checkCancellation()
            if !readOnly, transactionStatus == .inTransaction, let ending = PostgresTransactionEnding.statement {
                try await query(ending.sql, ending.parameters, file: file, line: line)
            }
        } catch {
            await rollback(file: file, line: line)
            throw error
        }
        try await commit(file: file, line: line)
        return result
    }

    /// Runs a transaction in two round trips: BEGIN travels with the statements of `first`, and COMMIT with the
    /// statements that `body` derives from their results. If `body` throws or a statement fails, everything is rolled
    /// back.
    ///
    /// It throws what `transaction` and `pipeline` throw; `statementIndex` counts within `first` or within `last`.
    /// - Returns: what `body` returned, and the results of `last`.
    nonisolated(nonsending) public func transaction<R>(
        isolation: PostgresIsolation? = nil, readOnly: Bool = false, first: [PostgresStatement],
        file: String = #fileID, line: Int = #line,
        then body: ([PostgresResult]) throws -> (R, last: [PostgresStatement])
    ) async throws -> (R, [PostgresResult]) {
        try checkNoTransaction(file: file, line: line)
        let result: R
        let last: [PostgresStatement]
        do {
            let begin = PostgresStatement(Self.begin(isolation, readOnly: readOnly))
            let results = try await pipeline([begin] + first, file: file, line: line)
            (result, last) = try body(Array(results.dropFirst()))
            try Task.checkCancellation()
        } catch {
            await rollback(file: file, line: line)
            guard var error = error as? PostgresError, let index = error.statementIndex else { throw error }
            error.statementIndex = index > 0 ? index - 1 : nil
            throw error
        }
        do {
            let results = try await pipeline(last + ["COMMIT"], file: file, line: line)
            try Self.checkCommitted(results.last?.commandTag, file: file, line: line)
            return (result, results.dropLast())
        } catch let error as PostgresError where transactionStatus == .closed {
            throw Self.unknownCommit(error)
        } catch {
            await rollback(file: file, line: line)
            throw error
        }
    }

    private nonisolated func checkNoTransaction(file: String, line: Int) throws {
        guard transactionStatus == .idle || transactionStatus == .closed else {
            throw PostgresError(
                code: .activeTransaction, message: "the connection is already in a transaction",
                hint: "Use savepoint inside a transaction, or another connection.", file: file, line: line)
        }
    }

    private static func begin(_ isolation: PostgresIsolation?, readOnly: Bool) -> String {
        "BEGIN" + (isolation.map { " ISOLATION LEVEL \($0.rawValue)" } ?? "") + (readOnly ? " READ ONLY" : "")
    }

    /// Limits how long each further statement of the transaction may take. A statement that takes longer fails with
    /// `queryCanceled`.
    package func limitStatements(to timeout: Duration) async throws {
        try await execute("SET LOCAL statement_timeout = \(timeout.wholeMilliseconds)")
    }

    /// Runs `body` between SAVEPOINT and RELEASE. If it throws, only its own work is rolled back and the error is
    /// rethrown. Use it inside a transaction.
    @discardableResult
    nonisolated(nonsending) public func savepoint<R>(
        file: String = #fileID, line: Int = #line,
        _ body: nonisolated(nonsending) (PostgresConnection) async throws -> R
    ) async throws -> R {
        try await execute("SAVEPOINT nested", file: file, line: line)
        let result: R
        do {
            result = try await body(self)
        } catch {
            try? await uninterrupted { session in
                _ = try await session.execute(
                    .init(sql: "ROLLBACK TO SAVEPOINT nested; RELEASE SAVEPOINT nested", file: file, line: line))
            }
            throw error
        }
        try await execute("RELEASE SAVEPOINT nested", file: file, line: line)
        return result
    }

    /// Not cancellable, since a commit can't be half done.
    private func commit(file: String, line: Int) async throws {
        let site = PostgresSession.CallSite(sql: "COMMIT", file: file, line: line)
        let tag = try await uninterrupted { session in
            do {
                return try await session.execute(site).last?.commandTag
            } catch let error as PostgresError where session.transactionStatus == .closed {
                throw Self.unknownCommit(error)
            }
        }
        try Self.checkCommitted(tag, file: file, line: line)
    }

    private static func unknownCommit(_ error: PostgresError) -> PostgresError {
        var error = error
        error.code = .transactionResolutionUnknown
        error.hint = "The transaction may or may not have been committed: check before repeating it."
        return error
    }

    /// - Parameter tag: the server's command tag for COMMIT, which says whether the transaction was committed.
    private static func checkCommitted(_ tag: String?, file: String, line: Int) throws {
        guard tag == "COMMIT" else {
            throw PostgresError(
                code: .inFailedTransaction, message: "the transaction was rolled back: a statement in it had failed",
                hint: "Let the statement's error leave the transaction's closure, or use a savepoint.",
                sql: "COMMIT", file: file, line: line)
        }
    }

    /// Rolls back an open transaction, even in a cancelled task. If that fails, closes the connection, which rolls back
    /// too.
    package func rollback(file: String = #fileID, line: Int = #line) async {
        guard await session(isOpenAfter: "ROLLBACK", file: file, line: line) else { return await close() }
    }

    private func session(isOpenAfter sql: String, file: String, line: Int) async -> Bool {
        do {
            return try await uninterrupted { session in
                guard session.transactionStatus != .closed else { return false }
                guard session.transactionStatus != .idle || session.activity != nil else { return true }
                _ = try await session.execute(.init(sql: sql, file: file, line: line))
                return session.transactionStatus == .idle
            }
        } catch {
            return false
        }
    }
}
