/// One row of a result.
public struct PostgresRow: Sendable {
    public let result: PostgresResult
    /// From 0, in its result.
    public let index: Int

    /// Traps when there is no such column.
    public subscript(column: Int) -> PostgresCell {
        result[index, column]
    }

    public subscript(column: String) -> PostgresCell {
        get throws(PostgresDecodingError) {
            try result[index, column]
        }
    }
}
