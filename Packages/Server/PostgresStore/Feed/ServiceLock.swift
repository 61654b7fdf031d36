package import PostgresClient

/// A lock that elects the one process that does a service's work.
///
/// It is a lock on a view, not an advisory lock: every role that may connect can take an advisory lock, and could
/// stop the service. Locking a view needs rights on it, which only the owner of the tables and its members have.
/// Unlike a table's lock, it makes no VACUUM wait. It also takes no transaction number, so holding it for long
/// doesn't hold back cleanup. It lasts as long as its transaction, so it is held on a connection that does nothing
/// else.
package enum ServiceLock: String, CaseIterable, Sendable {
    case sequencer = "sequencer_lock"
    case retention = "retention_lock"
    case purge = "purge_lock"
    case backup = "backup_lock"

    /// The function in `tombolo` that takes the lock.
    static let function = "take_lock"
    /// The function for this lock alone, for locks that admin servers take but that don't elect a sequencer. Nil for
    /// other locks.
    var ownFunction: String? {
        switch self {
        case .purge: "take_purge_lock"
        case .backup: "take_backup_lock"
        case .sequencer, .retention: nil
        }
    }

    /// Timeouts that would end the connection while it idles in its transaction. The oldest supported server lacks
    /// some of them.
    private static let timeouts =
        "('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')"

    /// Begins the transaction that holds the lock.
    /// - Parameter lease: how long the connection may be silent before PostgreSQL ends its session, and with it the
    ///   lock. Nil for no limit.
    /// - Returns: false if another session has the lock. The connection is then idle again.
    package func take(_ connection: PostgresConnection, lease: Duration? = nil) async throws -> Bool {
        try await connection.query(
            "SELECT set_config(name, CASE name WHEN 'idle_in_transaction_session_timeout' THEN $1 ELSE '0' END, false) "
                + "FROM pg_settings WHERE name IN \(Self.timeouts)",
            [.text(String(lease?.milliseconds ?? 0))])
        try await connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        do {
            let question =
                ownFunction.map { PostgresStatement("SELECT tombolo.\($0)()") }
                ?? PostgresStatement("SELECT tombolo.\(Self.function)($1)", [.text(rawValue)])
            let answer = try await connection.query(question.sql, question.parameters)
            if try answer[0][0].bool {
                // This query's portal would keep its snapshot until the transaction ends; the next query drops it.
                try await Self.check(connection)
                return true
            }
        } catch let error as PostgresError where error.code == .undefinedFunction || error.code == .undefinedTable {
            throw PostgresStoreError(
                .schema, "The database lacks 'tombolo.\(Self.function)' or '\(rawValue)'. Run the migration tool.")
        }
        try await connection.execute("ROLLBACK")
        return false
    }

    /// Releases the lock at once. PostgreSQL takes a moment to notice a closed connection.
    package static func release(_ connection: PostgresConnection) async {
        _ = try? await connection.execute("ROLLBACK")
    }

    /// Changes how long the connection that holds the lock may be silent.
    /// - Throws: if the connection is gone, and the lock with it.
    static func renew(_ connection: PostgresConnection, lease: Duration) async throws {
        try await connection.query(
            "SELECT set_config('idle_in_transaction_session_timeout', $1, false)", [.text(String(lease.milliseconds))])
        // This query's portal would keep its snapshot until the transaction ends; the next query drops it.
        try await check(connection)
    }

    /// - Throws: if the connection is gone, and the lock with it.
    package static func check(_ connection: PostgresConnection) async throws {
        try await connection.execute("SELECT 1")
    }
}
