import CLibPQ

/// The rows of one statement, kept in the memory that libpq read them into; cells decode on access.
///
/// Sendable and immutable. A row or cell keeps the whole result alive.
public struct PostgresResult: Sendable, RandomAccessCollection {
    let storage: PostgresResultStorage

    init(_ raw: OpaquePointer) {
        storage = PostgresResultStorage(raw)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { storage.rowCount }
    public var columnCount: Int { storage.columnCount }

    public var columnNames: [String] {
        (0..<storage.columnCount).map(storage.columnName)
    }

    /// Bytes that libpq holds for the result.
    public var byteCount: Int { PQresultMemorySize(storage.raw) }

    /// The index of the first column with this name, compared exactly.
    ///
    /// - Throws: `PostgresDecodingError` with the names that there are.
    public func column(_ name: String) throws(PostgresDecodingError) -> Int {
        for column in 0..<storage.columnCount where storage.columnName(column) == name { return column }
        throw PostgresDecodingError(
            reason: .noSuchColumn(known: columnNames), column: name, row: 0, expected: "", foundOID: 0)
    }

    /// The number of rows that the statement inserted, updated, deleted, selected, fetched or copied.
    public var affectedRows: Int {
        PQcmdTuples(storage.raw).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// What the server says it did, such as `INSERT 0 1`.
    public var commandTag: String {
        PQcmdStatus(storage.raw).map { String(cString: $0) } ?? ""
    }

    /// Traps when there is no such row.
    public subscript(row: Int) -> PostgresRow {
        precondition(row >= 0 && row < storage.rowCount, "row \(row) of \(storage.rowCount)")
        return PostgresRow(result: self, index: row)
    }

    /// Traps when there is no such row or column.
    public subscript(row: Int, column: Int) -> PostgresCell {
        precondition(row >= 0 && row < storage.rowCount, "row \(row) of \(storage.rowCount)")
        precondition(column >= 0 && column < storage.columnCount, "column \(column) of \(storage.columnCount)")
        return PostgresCell(storage: storage, row: Int32(row), column: Int32(column))
    }

    /// Looks the column up at every call: in loops take `column(_:)` once.
    public subscript(row: Int, column: String) -> PostgresCell {
        get throws(PostgresDecodingError) {
            self[row, try self.column(column)]
        }
    }
}
