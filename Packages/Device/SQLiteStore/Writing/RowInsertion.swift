package import TomboloModel

/// The statement that inserts rows of one class, with the bytes of the bound row.
///
/// Short text is kept in the insertion's own memory, which SQLite reads in place. This saves an allocation for each
/// copy.
package final class RowInsertion {
    let table: TableLayout
    private let statement: SQLiteStatement
    /// Mustn't move while the statement may run, because it contains bound text.
    private let bytes: UnsafeMutablePointer<UInt8>
    private var byteCount = 0
    /// The length in bytes of the longest bound text or data.
    private(set) var longestByteCount = 0

    /// How many bytes of a row's text fit. SQLite copies longer text.
    private static let byteCapacity = 4_096

    init(_ table: TableLayout, on connection: SQLiteConnection) throws {
        self.table = table
        statement = try connection.keptStatement(table.insertRow)
        bytes = .allocate(capacity: Self.byteCapacity)
    }

    /// Nothing else runs the statement, and finalising it doesn't read the bindings.
    deinit { bytes.deallocate() }

    /// Begins the next row. All columns must be bound again.
    func begin() {
        byteCount = 0
        longestByteCount = 0
    }

    package func bind(_ value: Value, at column: Int) {
        guard case .string(var text) = value else {
            if case .data(let data) = value { longestByteCount = max(longestByteCount, data.count) }
            return statement.bind(value, at: column + 1)
        }
        text.withUTF8 { text in
            longestByteCount = max(longestByteCount, text.count)
            guard let start = text.baseAddress, text.count <= Self.byteCapacity - byteCount else {
                return statement.bindText(text.baseAddress, count: text.count, copying: true, at: column + 1)
            }
            let place = bytes + byteCount
            place.update(from: start, count: text.count)
            byteCount += text.count
            statement.bindText(place, count: text.count, copying: false, at: column + 1)
        }
    }

    /// - Parameter rowid: ignored if the primary key is the rowid.
    func run(rowid: Int64) throws {
        if !table.isKeyRowID { statement.bind(rowid, at: table.columnNames.count + 1) }
        try statement.run()
    }
}
