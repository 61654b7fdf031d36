internal import Foundation
internal import GRDB
internal import GRDBSQLite

/// One connection to a device file. GRDB opens and configures it. Afterwards its owner steps cached statements on it
/// directly. Confined to its owner: a Realm or a device store, which serialise their calls.
package final class SQLiteConnection {
    /// How long a statement waits for another connection's lock.
    package static let busyTimeoutSeconds = 10
    /// The maximum number of statements kept prepared. The oldest are dropped first.
    private static let maximumCachedStatements = 256
    private static let maximumIdleStatements = 32

    package enum Durability: String, Sendable {
        /// A commit is on disk when it returns. For data that only the device has.
        case full = "FULL"
        /// If the operating system crashes, a commit may be lost, but never half applied. For data that the server also
        /// has.
        case normal = "NORMAL"
        /// For files that don't outlive the process.
        case off = "OFF"
    }

    package let path: String
    package let isReadOnly: Bool
    /// Keeps `handle` open.
    private let queue: DatabaseQueue
    let handle: OpaquePointer
    private let patience = LockPatience()
    private var statements: [String: SQLiteStatement] = [:]
    private var order: [String] = []
    /// Statements that their owners keep.
    private var kept: [SQLiteStatement] = []
    /// The statements that begin and end transactions, by ``TransactionStep``.
    private var steps: [SQLiteStatement?] = Array(repeating: nil, count: TransactionStep.allCases.count)
    /// The pages in the write-ahead log at this connection's last commit, after ``keepLog()``.
    var logPageCount: Int32 = 0
    /// Statements that were given back, by text.
    private var idle: [String: SQLiteStatement] = [:]

    package init(path: String, readOnly: Bool = false, durability: Durability) throws {
        self.path = path
        self.isReadOnly = readOnly
        var configuration = Configuration()
        configuration.busyMode = .timeout(TimeInterval(Self.busyTimeoutSeconds))
        configuration.foreignKeysEnabled = false
        configuration.readonly = readOnly
        configuration.label = "Tombolo"
        if !readOnly {
            configuration.journalMode = .wal
            PrivateFile.prepare(path)
        }
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let handle = try queue.inDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue)")
                return database.sqliteConnection
            }
            guard let handle else {
                throw SQLiteStoreError(.fileAccess, "Can't open '\(path)'.")
            }
            // GRDB's transaction observers expect all commits to come from GRDB. This connection has no such observers.
            sqlite3_commit_hook(handle, nil, nil)
            sqlite3_rollback_hook(handle, nil, nil)
            try SQLFunctions.register(on: handle, path: path)
            self.handle = handle
            setBusyTimeout(seconds: Self.busyTimeoutSeconds)
        } catch let error as DatabaseError {
            throw SQLiteStoreError(
                resultCode: error.extendedResultCode.rawValue, message: error.message ?? "no message", path: path,
                sql: error.sql)
        }
    }

    deinit {
        sqlite3_busy_handler(handle, nil, nil)
        // Finalise the statements before GRDB closes the connection, because closing fails if any are open.
        for statement in statements.values { statement.finalize() }
        for statement in kept { statement.finalize() }
        for statement in idle.values { statement.finalize() }
    }

    /// A prepared statement, ready to bind. Its previous use must be over.
    package func statement(_ sql: String) throws -> SQLiteStatement {
        if let known = statements[sql] {
            known.reset()
            return known
        }
        let statement = try SQLiteStatement(sql, on: self)
        if order.count >= Self.maximumCachedStatements {
            // If the dropped statement is in use, it keeps working for its holder.
            statements[order.removeFirst()] = nil
        }
        statements[sql] = statement
        order.append(sql)
        return statement
    }

    /// A prepared statement for frequent use by one owner. It stays prepared for as long as the connection exists.
    package func keptStatement(_ sql: String) throws -> SQLiteStatement {
        let statement = try SQLiteStatement(sql, on: self)
        kept.append(statement)
        return statement
    }

    /// A prepared statement for exclusive use until it's given back. Use it to read row by row while other statements
    /// run.
    package func borrowStatement(_ sql: String) throws -> SQLiteStatement {
        if let known = idle.removeValue(forKey: sql) { return known }
        return try SQLiteStatement(sql, on: self)
    }

    package func giveBack(_ statement: SQLiteStatement) {
        statement.clear()
        if idle.count >= Self.maximumIdleStatements { idle.removeAll() }
        idle[statement.sql] = statement
    }

    /// Runs one statement without results.
    package func execute(_ sql: String) throws {
        let statement = try SQLiteStatement(sql, on: self)
        defer { statement.finalize() }
        while try statement.step() {}
    }

    /// Runs a cached statement without results.
    package func run(_ sql: String) throws {
        let statement = try statement(sql)
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// Begins or ends a transaction.
    package func run(_ step: TransactionStep) throws {
        let known = steps[step.rawValue]
        let statement = try known ?? keptStatement(step.sql)
        if known == nil { steps[step.rawValue] = statement }
        try statement.run()
    }

    /// The first column of the first row, or nil if there are no rows.
    package func integer(_ sql: String) throws -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(at: 0) : nil
    }

    /// Sets how long a statement waits for another connection's lock.
    package func setBusyTimeout(seconds: Int) {
        patience.limit = seconds * 1_000_000
        let context = Unmanaged.passUnretained(patience).toOpaque()
        sqlite3_busy_handler(
            handle,
            { context, attempts in
                guard let context else { return 0 }
                let patience = Unmanaged<LockPatience>.fromOpaque(context).takeUnretainedValue()
                return patience.wait(attempts: attempts) ? 1 : 0
            }, context)
    }

    /// Whether the file has a write-ahead log. A read-only copy may not have one.
    private(set) lazy var hasWriteAheadLog: Bool = {
        guard let statement = try? self.statement("PRAGMA journal_mode") else { return false }
        defer { statement.reset() }
        return (try? statement.step()) == true && statement.text(at: 0) == "wal"
    }()

    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The rowid assigned by the last INSERT.
    var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Runs `body` in a write transaction. Commits if `body` returns, and rolls back if it throws.
    package func writeTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run(.beginImmediate)
        do {
            let result = try body()
            try run(.commit)
            return result
        } catch {
            rollback()
            throw error
        }
    }

    /// Rolls back the open transaction, if any. Never fails: after a fatal error, SQLite rolls back by itself.
    package func rollback() {
        for statement in statements.values { statement.reset() }
        for statement in kept { statement.reset() }
        if isInTransaction { try? run("ROLLBACK") }
    }

    func error(_ resultCode: Int32, sql: String?) -> SQLiteStoreError {
        SQLiteStoreError(
            resultCode: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), path: path,
            sql: sql)
    }
}
