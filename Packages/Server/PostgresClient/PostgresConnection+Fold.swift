extension PostgresConnection {
    /// Runs one statement, of any kind but COPY, and folds its rows into a value as they arrive: memory doesn't grow with the
    /// answer. A statement that is several is refused by the server.
    ///
    /// - Parameter add: gets results with one row each, and the last with none, which has the columns and the command tag. When
    ///   it returns false, the statement is cancelled and the connection closed.
    /// - Returns: the value.
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
