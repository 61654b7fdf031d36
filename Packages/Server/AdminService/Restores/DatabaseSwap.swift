import PostgresClient
import TomboloHTTP

/// Gives a database the name of another, which gets a new one, at once: in one transaction, so that a process that is killed
/// leaves either the one or the other. Everybody's connections to both end.
struct DatabaseSwap: Sendable {
    /// How often connections are ended that come until PostgreSQL holds new ones back.
    private static let interval = Duration.milliseconds(50)
    /// How often it's tried. PostgreSQL waits five seconds each time for connections to end.
    private static let attemptLimit = 3
    /// How long it waits for somebody else who changes databases, or is just connecting.
    private static let lockTimeout = Duration.seconds(10)

    let current: String
    /// What gets the name.
    let next: String
    /// What the current one is called afterwards.
    let kept: String
    /// Of a database that is neither. Its user is a superuser, or a member of `pg_signal_backend`.
    let maintenance: PostgresConfiguration

    /// - Throws: ``BackupFailure`` or the database's error; nothing was changed then.
    func run(_ connection: PostgresConnection) async throws {
        for attempt in 1... {
            do {
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    // The rename keeps new connections waiting, and waits itself until there are no others.
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

    /// Ends connections until it's cancelled.
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
            // The names are what they should be.
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Says who is connected and can't be sent away.
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
            "The databases couldn't change places, and nothing was changed, because connections stay that couldn't be ended: "
                + "\(who). Close them and try it again.")
    }
}
