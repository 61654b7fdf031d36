import PostgresClient
import TomboloHTTP

/// Gives a database the name of another, which gets a new name. Both happen in one transaction, so a process that is
/// killed leaves either the old names or the new ones. All connections to both databases are closed.
struct DatabaseSwap: Sendable {
    /// How often to close connections that are opened before PostgreSQL starts to hold new ones back.
    private static let interval = Duration.milliseconds(50)
    /// The number of attempts. In each, PostgreSQL waits five seconds for connections to end.
    private static let attemptLimit = 3
    /// How long to wait for others who are changing databases or just connecting.
    private static let lockTimeout = Duration.seconds(10)

    let current: String
    /// The database that gets the current one's name.
    let next: String
    /// The current database's new name.
    let kept: String
    /// A connection to neither of the two. Its user is a superuser or a member of `pg_signal_backend`.
    let maintenance: PostgresConfiguration

    /// - Throws: ``BackupFailure`` or the database's error. Nothing was changed then.
    func run(_ connection: PostgresConnection) async throws {
        for attempt in 1... {
            do {
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    // The rename blocks new connections, and itself waits until no others are left.
                    group.addTask { try await endOthers() }
                    defer { group.cancelAll() }
                    try await rename(connection)
                }
            } catch let error as PostgresError where error.code == .objectInUse {
                guard attempt < Self.attemptLimit * Patience.factor else { throw try await blocked(connection, error) }
            }
        }
    }

    private func rename(_ connection: PostgresConnection) async throws {
        try await connection.transaction { connection in
            try await connection.execute(
                "SET LOCAL lock_timeout = '\(Self.lockTimeout.patient.components.seconds)s'")
            try await connection.execute(Self.renaming(current, kept))
            try await connection.execute(Self.renaming(next, current))
        }
    }

    private static func renaming(_ old: String, _ new: String) -> String {
        "ALTER DATABASE \(PostgresSQL.quoteIdentifier(old)) RENAME TO \(PostgresSQL.quoteIdentifier(new))"
    }

    /// Closes connections until it's cancelled.
    private func endOthers() async throws {
        let connection = try await PostgresConnection.connect(maintenance)
        do {
            try await RestoreConnection.prepare(connection)
            while !Task.isCancelled {
                try await connection.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname IN ($1, $2) AND pid <> pg_backend_pid()
                        AND usesysid IS NOT NULL AND (
                            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
                            OR NOT (SELECT rolsuper FROM pg_roles WHERE oid = usesysid))
                    """, [.text(current), .text(next)])
                try await Task.sleep(for: Self.interval)
            }
        } catch is CancellationError {
            // The rename is done.
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Names the connections that can't be closed.
    private func blocked(_ connection: PostgresConnection, _ error: PostgresError) async throws -> BackupFailure {
        let others = try await connection.query(
            """
            SELECT DISTINCT coalesce(usename::text, backend_type) || CASE WHEN application_name <> ''
                THEN ' (' || application_name || ')' ELSE '' END
            FROM pg_stat_activity WHERE datname IN ($1, $2) AND pid <> pg_backend_pid() ORDER BY 1 LIMIT 5
            """, [.text(current), .text(next)]
        ).map { try $0[0].string }
        let who = others.isEmpty ? error.message : others.joined(separator: ", ")
        return BackupFailure(
            "Can't swap the databases, because some connections couldn't be closed: \(who). Nothing was changed. "
                + "Close the connections and try again.")
    }
}
