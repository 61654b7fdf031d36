extension PostgresConnection {
    /// Runs one statement of any kind except COPY, and folds its rows into a value as they arrive, so memory doesn't
    /// grow with the number of rows. The server refuses a text with several statements.
    ///
    /// - Parameter add: gets one result for each row, and a last result without rows, which has the columns and the
    ///   command tag. If it returns false, the statement is cancelled and the connection closed.
    /// - Returns: the folded value.
    public func fold<R: Sendable>(
        _ sql: String, _ parameters: [PostgresParameter] = [], format: PostgresResultFormat = .binary,
        into initial: R, file: String = #fileID, line: Int = #line,
        _ add: @Sendable (inout R, PostgresResult) -> Bool
    ) async throws -> R {
        try await interruptible { session in
            var value = initial
            try await session.fold(
                PostgresStatement(sql, parameters), format: format, into: &value,
                .init(sql: sql, file: file, line: line), add)
            return value
        }
    }
}
