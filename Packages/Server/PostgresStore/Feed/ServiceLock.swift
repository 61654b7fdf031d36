package import PostgresClient

/// A lock that elects the one process that does a service's work.
///
/// It is a lock on a view, not an advisory lock: every role that may connect can take those, and would stop the service.
/// A view's lock needs rights on the view, which only the owner of the tables and its members have. No VACUUM waits for
/// it, as for a table's, and it takes no transaction number, so that holding it for long keeps nothing from being
/// cleaned up. It lasts as long as its transaction: it is held on a connection that does nothing else.
package enum ServiceLock: String, CaseIterable, Sendable {
    case sequencer = "sequencer_lock"
    case retention = "retention_lock"
    case purge = "purge_lock"
    case backup = "backup_lock"

    /// The function in `tombolo` that takes it.
    static let function = "take_lock"
    /// The same for one lock alone, of those that admin servers take: they elect no sequencer. Nil for the others.
    var ownFunction: String? {
        switch self {
        case .purge: "take_purge_lock"
        case .backup: "take_backup_lock"
        case .sequencer, .retention: nil
        }
    }

    /// What would end the connection while it waits and works for nobody; some of it is newer than the oldest server.
    private static let timeouts =
        "('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')"

    /// Begins the transaction that holds the lock.
    /// - Parameter lease: how long the connection may be silent until PostgreSQL ends its session, and with it the lock;
    ///   nil for as long as it stands.
    /// - Returns: false where another session has it; the connection is then idle again.
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
                // The question's portal would keep its snapshot for as long as the transaction; the next query drops it.
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

    /// Gives the lock back at once. When a connection is closed, PostgreSQL takes a moment to notice.
    package static func release(_ connection: PostgresConnection) async {
        _ = try? await connection.execute("ROLLBACK")
    }

    /// Changes for how long the connection that holds the lock may be silent.
    /// - Throws: where the connection is gone, and the lock with it.
    static func renew(_ connection: PostgresConnection, lease: Duration) async throws {
        try await connection.query(
            "SELECT set_config('idle_in_transaction_session_timeout', $1, false)", [.text(String(lease.milliseconds))])
        // The query's portal would keep its snapshot for as long as the transaction; the next query drops it.
        try await check(connection)
    }

    /// - Throws: where the connection is gone, and the lock with it.
    package static func check(_ connection: PostgresConnection) async throws {
        try await connection.execute("SELECT 1")
    }
}
