import GRDBSQLite

/// A prepared statement of a ``SQLiteFile``. It keeps the file open.
final class SQLiteRowStatement {
    private let statement: OpaquePointer
    private let file: SQLiteFile
    /// Makes SQLite copy bound values.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(_ statement: OpaquePointer, file: SQLiteFile) {
        self.statement = statement
        self.file = file
    }

    deinit { sqlite3_finalize(statement) }

    // Parameters are numbered from 1 and columns from 0, as in SQLite.

    func bind(_ value: Int64, at place: Int32) { sqlite3_bind_int64(statement, place, value) }

    func bind(_ value: Double, at place: Int32) { sqlite3_bind_double(statement, place, value) }

    func bind(_ value: String, at place: Int32) {
        var value = value
        value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), Self.transient)
            }
        }
    }

    /// Runs a statement with a text bound to one parameter, which SQLite doesn't copy.
    func run(text: String, at place: Int32) throws {
        var text = text
        try text.withUTF8 { text in
            try text.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), nil)
                try run()
            }
        }
    }

    func bind(text bytes: UnsafeRawBufferPointer, at place: Int32) {
        bytes.withMemoryRebound(to: CChar.self) {
            _ = sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), Self.transient)
        }
    }

    func bind(blob bytes: UnsafeRawBufferPointer, at place: Int32) {
        sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(bytes.count), Self.transient)
    }

    func bind(_ bytes: [UInt8], at place: Int32) { bytes.withUnsafeBytes { bind(blob: $0, at: place) } }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

    func text(_ column: Int32) -> String {
        // The pointer must be read before the count: <https://www.sqlite.org/c3ref/column_blob.html>
        let start = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Whether there is a row.
    func step() throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw file.error("a step")
        }
    }

    /// Runs a statement without rows and resets it for the next values.
    func run() throws {
        _ = try step()
        reset()
    }

    func reset() { sqlite3_reset(statement) }
}
