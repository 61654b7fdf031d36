/// One row of a result.
public struct PostgresRow: Sendable {
    /// The result that the row belongs to.
    public let result: PostgresResult
    /// The row's index in its result, from 0.
    public let index: Int

    /// The cell of a column. Traps if the column doesn't exist.
    public subscript(column: Int) -> PostgresCell {
        result[index, column]
    }

    /// The cell of a named column. Throws `PostgresDecodingError` if it doesn't exist.
    public subscript(column: String) -> PostgresCell {
        get throws(PostgresDecodingError) {
            try result[index, column]
        }
    }
}
