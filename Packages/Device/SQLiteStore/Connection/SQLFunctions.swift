internal import GRDBSQLite

/// The SQL functions that our queries use in addition to SQLite's. All are pure, so indexes and triggers may use them
/// too.
enum SQLFunctions {
    typealias Context = OpaquePointer?
    typealias Arguments = UnsafeMutablePointer<OpaquePointer?>?
    typealias Body = @convention(c) (Context, Int32, Arguments) -> Void

    /// Registers the functions with a connection.
    static func register(on connection: OpaquePointer, path: String) throws {
        try DecimalFunctions.register(on: connection, path: path)
        try TextFunctions.register(on: connection, path: path)
    }

    static func scalar(
        _ name: String, arguments: Int32, on connection: OpaquePointer, path: String, _ body: Body
    ) throws {
        try check(
            sqlite3_create_function_v2(connection, name, arguments, flags, nil, body, nil, nil, nil), connection, path)
    }

    /// Registers an aggregate of one column's values.
    static func aggregate(
        _ name: String, on connection: OpaquePointer, path: String, step: Body,
        result: @convention(c) (Context) -> Void
    ) throws {
        try check(
            sqlite3_create_function_v2(connection, name, 1, flags, nil, nil, step, result, nil), connection, path)
    }

    /// Innocuous: views and triggers of any file may use the functions.
    /// <https://www.sqlite.org/c3ref/c_deterministic.html>
    private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

    private static func check(_ resultCode: Int32, _ connection: OpaquePointer, _ path: String) throws {
        guard resultCode != SQLITE_OK else { return }
        throw SQLiteStoreError(
            resultCode: resultCode, message: String(cString: sqlite3_errmsg(connection)), path: path)
    }

    // MARK: Arguments and results

    /// The UTF-8 text of an argument, valid until the function returns; nil for NULL.
    static func text(_ arguments: Arguments, _ index: Int) -> UnsafeBufferPointer<UInt8>? {
        guard let value = arguments?[index], sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        // This order matters, because SQLite may have to create the text first. The pointer is null for an empty blob.
        let start = sqlite3_value_text(value)
        return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    static func integer(_ arguments: Arguments, _ index: Int) -> Int {
        Int(sqlite3_value_int64(arguments?[index]))
    }

    static func answer(_ context: Context, text: String) {
        var text = text
        text.withUTF8 { answer(context, text: $0) }
    }

    static func answer(_ context: Context, text: UnsafeBufferPointer<UInt8>) {
        // A null pointer would mean NULL.
        guard let start = text.baseAddress else { return sqlite3_result_text(context, "", 0, nil) }
        start.withMemoryRebound(to: CChar.self, capacity: text.count) {
            sqlite3_result_text64(context, $0, UInt64(text.count), transient, UInt8(SQLITE_UTF8))
        }
    }

    static func answer(_ context: Context, blob: [UInt8]) {
        blob.withUnsafeBytes { sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), transient) }
    }

    /// Ends the statement with an error.
    static func fail(_ context: Context, _ message: String) { sqlite3_result_error(context, message, -1) }

    /// SQLITE_TRANSIENT: SQLite makes its own copy. <https://www.sqlite.org/c3ref/c_static.html>
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
