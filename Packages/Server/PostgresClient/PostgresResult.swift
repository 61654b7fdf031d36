import CLibPQ

/// The rows of one statement, in the memory that libpq read them into; cells decode on access.
///
/// Sendable and immutable. A row or cell keeps the whole result alive.
public struct PostgresResult: Sendable, RandomAccessCollection {
    let storage: PostgresResultStorage

    init(_ raw: OpaquePointer) {
        storage = PostgresResultStorage(raw)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.rowCount }
    /// The number of columns.
    public var columnCount: Int { storage.columnCount }

    /// The names of the columns, in order. Names may repeat.
    public var columnNames: [String] {
        (0..<storage.columnCount).map(storage.columnName)
    }

    /// The size of libpq's memory for the result, in bytes.
    public var byteCount: Int { PQresultMemorySize(storage.raw) }

    /// The index of the first column with this name, compared exactly.
    ///
    /// - Throws: `PostgresDecodingError` listing the existing names.
    public func column(_ name: String) throws(PostgresDecodingError) -> Int {
        for column in 0..<storage.columnCount where storage.columnName(column) == name { return column }
        throw PostgresDecodingError(
            reason: .noSuchColumn(known: columnNames), column: name, row: 0, expected: "", foundOID: 0)
    }

    /// The number of rows that the statement inserted, updated, deleted, selected, fetched or copied.
    public var affectedRows: Int {
        PQcmdTuples(storage.raw).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The server's command tag, such as `INSERT 0 1`.
    public var commandTag: String {
        PQcmdStatus(storage.raw).map { String(cString: $0) } ?? ""
    }

    /// The row at an index. Traps if it doesn't exist.
    public subscript(row: Int) -> PostgresRow {
        precondition(row >= 0 && row < storage.rowCount, "row \(row) of \(storage.rowCount)")
        return PostgresRow(result: self, index: row)
    }

    /// The cell at a row and column. Traps if either doesn't exist.
    public subscript(row: Int, column: Int) -> PostgresCell {
        precondition(row >= 0 && row < storage.rowCount, "row \(row) of \(storage.rowCount)")
        precondition(column >= 0 && column < storage.columnCount, "column \(column) of \(storage.columnCount)")
        return PostgresCell(storage: storage, row: Int32(row), column: Int32(column))
    }

    /// The cell of a named column. Looks the name up on every call; in loops, call `column(_:)` once.
    public subscript(row: Int, column: String) -> PostgresCell {
        get throws(PostgresDecodingError) {
            self[row, try self.column(column)]
        }
    }
}
