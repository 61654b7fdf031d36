import PostgresClient
import TomboloHTTP

/// Connections of the user of `TOMBOLO_RESTORE_URL`.
enum RestoreConnection {
    /// Connects, runs `body` and closes the connection.
    /// - Parameter searchPath: the search path for names; nil for the user's own.
    /// - Throws: ``BackupFailure`` if it can't connect.
    static func with<R: Sendable>(
        _ configuration: PostgresConfiguration, searchPath: String? = nil,
        _ body: @Sendable (PostgresConnection) async throws -> R
    ) async throws -> R {
        var configuration = configuration
        configuration.applicationName = "tombolo restore"
        let connection: PostgresConnection
        do {
            connection = try await PostgresConnection.connect(configuration)
        } catch let error as PostgresError {
            throw BackupFailure(
                "The user of \(RestoreSettings.databaseVariable) can't connect to "
                    + "\(configuration.database ?? "the database"): \(error.message)")
        }
        do {
            try await prepare(connection, searchPath: searchPath)
            let result = try await body(connection)
            await connection.close()
            return result
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Overrides settings of the database that could end long operations, or change what names mean.
    static func prepare(_ connection: PostgresConnection, searchPath: String? = "pg_catalog") async throws {
        if let searchPath {
            try await connection.query("SELECT pg_catalog.set_config('search_path', $1, false)", [.text(searchPath)])
        }
        // Some of these settings don't exist in the oldest supported version.
        try await connection.query(
            """
            SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name IN (
                'statement_timeout', 'lock_timeout', 'idle_session_timeout', 'idle_in_transaction_session_timeout',
                'transaction_timeout')
            """)
        try await connection.execute("SET default_transaction_read_only = off")
    }

    /// Keeps others from restoring the same database, even while it has another name, until ``unlock(_:_:)`` or the
    /// end of the connection.
    /// - Parameter database: its name.
    /// - Returns: false if another restore holds the lock.
    static func lock(_ database: String, _ maintenance: PostgresConnection) async throws -> Bool {
        try await maintenance.query("SELECT pg_try_advisory_lock(\(key))", [.text(database)])[0, 0].bool
    }

    /// Lets others restore it at once. When a connection is merely closed, PostgreSQL takes a moment to notice.
    static func unlock(_ database: String, _ maintenance: PostgresConnection) async {
        _ = try? await maintenance.query("SELECT pg_advisory_unlock(\(key))", [.text(database)])
    }

    private static let key = "hashtextextended('tombolo.restore ' || $1, 0)"

    /// Drops a database if it exists, and closes all connections to it. PostgreSQL waits up to five seconds for them
    /// to end.
    static func drop(_ database: String, _ maintenance: PostgresConnection) async throws {
        for attempt in 1... {
            do {
                try await maintenance.execute(
                    "DROP DATABASE IF EXISTS \(PostgresSQL.quoteIdentifier(database)) WITH (FORCE)")
                return
            } catch let error as PostgresError where error.code == .objectInUse && attempt < Patience.factor {}
        }
    }
}
