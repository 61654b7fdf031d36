import Foundation
import GRDBSQLite

/// A SQLite file through the C API: the raw limit.
///
/// Not thread-safe. Errors are thrown with SQLite's message.
final class SQLiteFile {
    private let handle: OpaquePointer

    static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    init(path: String) throws {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(
            path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw BenchError("SQLite cannot open \(path): \(String(cString: sqlite3_errstr(code)))")
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 10_000)
    }

    deinit { sqlite3_close_v2(handle) }

    /// Applies the settings of a Realm's connection. Page and cache sizes are SQLite's defaults.
    func useRealmSettings() throws {
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    }

    /// Applies the settings of device files.
    func useDeviceSettings() throws {
        try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
    }

    func prepare(_ sql: String) throws -> SQLiteRowStatement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw error(sql)
        }
        return SQLiteRowStatement(statement, file: self)
    }

    func integer(_ sql: String) throws -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func texts(_ sql: String) throws -> [String] {
        let statement = try prepare(sql)
        var result: [String] = []
        while try statement.step() { result.append(statement.text(0)) }
        return result
    }

    func error(_ what: String) -> BenchError {
        BenchError("SQLite: \(String(cString: sqlite3_errmsg(handle))) in: \(what)")
    }
}
