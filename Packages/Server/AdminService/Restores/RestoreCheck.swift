import PostgresClient

/// Checks whether the user of `TOMBOLO_RESTORE_URL` may restore this server's database.
struct RestoreCheck: Sendable {
    let names: DatabaseNames

    /// - Parameters:
    ///   - pool: connected to this server's database.
    ///   - maintenance: a connection of that user.
    /// - Returns: the names. Nothing was changed.
    /// - Throws: ``BackupFailure`` with what is missing, and the commands that fix it.
    init(_ pool: PostgresPool, _ maintenance: PostgresConnection) async throws {
        let here = try await pool.query(
            """
            SELECT current_database()::text, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
                extract(epoch FROM pg_postmaster_start_time())::text
            """)[0]
        names = DatabaseNames(current: try here[0].string)
        if let problem = names.problem { throw BackupFailure(problem) }
        let there = try await maintenance.query(
            """
            SELECT current_database()::text, (SELECT oid::bigint FROM pg_database WHERE datname = $1),
                extract(epoch FROM pg_postmaster_start_time())::text, session_user::text, rolsuper, rolcreatedb,
                pg_has_role('pg_signal_backend', 'USAGE')
            FROM pg_roles WHERE rolname = current_user
            """, [.text(names.current)])[0]
        guard try there[1].nonNull?.int64 == here[1].int64, try there[2].string == here[2].string else {
            throw BackupFailure(
                "\(RestoreSettings.databaseVariable) points to a different PostgreSQL server than the one with "
                    + "this database.")
        }
        guard try there[0].string != names.current else {
            throw BackupFailure(
                "\(RestoreSettings.databaseVariable) points to the database itself, which can't be renamed from "
                    + "within: name another one on that server, such as postgres.")
        }
        if try there[4].bool { return }
        let user = PostgresSQL.quoteIdentifier(try there[3].string)
        var commands: [String] = []
        if try !there[5].bool { commands.append("ALTER ROLE \(user) CREATEDB") }
        if try !there[6].bool { commands.append("GRANT pg_signal_backend TO \(user)") }
        for owner in try await Self.owners(pool) {
            if owner.isSuperuser {
                throw BackupFailure(
                    "Something in this database belongs to \(owner.name), a superuser, so only a superuser can restore it. "
                        + "Give it to another role, or restore on the command line: see docs/backups.md.")
            }
            if try await !Self.isMember(of: owner.name, maintenance) {
                commands.append("GRANT \(PostgresSQL.quoteIdentifier(owner.name)) TO \(user)")
            }
        }
        guard commands.isEmpty else {
            throw BackupFailure(
                "The user of \(RestoreSettings.databaseVariable) lacks privileges. As a superuser, run: "
                    + commands.joined(separator: "; "))
        }
    }

    /// The owners of the database and its contents, except for the schema `public`, which a restore finds in place,
    /// and for objects of extensions, which it creates anew.
    private static func owners(_ pool: PostgresPool) async throws -> [(name: String, isSuperuser: Bool)] {
        try await pool.query(
            """
            WITH schemas AS (SELECT oid, nspname, nspowner FROM pg_namespace
                WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'),
            owned AS (
                SELECT 'pg_namespace'::regclass AS catalog, oid, nspowner AS owner FROM schemas WHERE nspname <> 'public'
                UNION ALL SELECT 'pg_class'::regclass, c.oid, relowner
                    FROM pg_class c JOIN schemas ON schemas.oid = relnamespace
                UNION ALL SELECT 'pg_proc'::regclass, p.oid, proowner
                    FROM pg_proc p JOIN schemas ON schemas.oid = pronamespace)
            SELECT DISTINCT rolname::text, rolsuper FROM pg_roles WHERE rolname <> 'pg_database_owner' AND oid IN (
                SELECT datdba FROM pg_database WHERE datname = current_database()
                UNION SELECT owner FROM owned WHERE NOT EXISTS (SELECT FROM pg_depend d
                    WHERE d.classid = owned.catalog AND d.objid = owned.oid AND d.deptype = 'e')) ORDER BY 1
            """
        ).map { (name: try $0[0].string, isSuperuser: try $0[1].bool) }
    }

    private static func isMember(of role: String, _ connection: PostgresConnection) async throws -> Bool {
        try await connection.query("SELECT pg_has_role($1, 'USAGE')", [.text(role)])[0, 0].bool
    }
}
