package import TomboloModel

/// The statement that inserts rows of one class, with the bytes of the row that is bound.
///
/// Short text lies in memory of its own, which SQLite reads where it is: it makes no copy of its own, which would take
/// an allocation for each.
package final class RowInsertion {
    let table: TableLayout
    private let statement: SQLiteStatement
    /// Stays where it is as long as the statement may be run: bound text is inside.
    private let bytes: UnsafeMutablePointer<UInt8>
    private var byteCount = 0
    /// The longest text or data that is bound, in bytes.
    private(set) var longestByteCount = 0

    /// Longer text in a row is left to SQLite.
    private static let byteCapacity = 4_096

    init(_ table: TableLayout, on connection: SQLiteConnection) throws {
        self.table = table
        statement = try connection.keptStatement(table.insertRow)
        bytes = .allocate(capacity: Self.byteCapacity)
    }

    /// Nobody else runs the statement, and finalizing it does not look at what is bound.
    deinit { bytes.deallocate() }

    /// Begins another row: all columns are to be bound anew.
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

    /// - Parameter rowid: not used where the primary key is the rowid.
    func run(rowid: Int64) throws {
        if !table.isKeyRowID { statement.bind(rowid, at: table.columnNames.count + 1) }
        try statement.run()
    }
}
