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
        guard transactionStatus == .idle || transactionStatus == .closed else {
            throw PostgresError(
                code: .activeTransaction, message: "the connection is already in a transaction",
                hint: "Use savepoint inside a transaction, or another connection.", file: file, line: line)
        }
        var begin = "BEGIN"
        if let isolation { begin += " ISOLATION LEVEL \(isolation.rawValue)" }
        if readOnly { begin += " READ ONLY" }
        try await execute(begin, file: file, line: line)
        let result: R
        do {
            result = try await body(self)
            try Task.checkCancellation()
        } catch {
            await rollback(file: file, line: line)
            throw error
        }
        try await commit(file: file, line: line)
        return result
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
            } catch var error as PostgresError where session.transactionStatus == .closed {
                error.code = .transactionResolutionUnknown
                error.hint = "The transaction may or may not have been committed: check before repeating it."
                throw error
            }
        }
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
