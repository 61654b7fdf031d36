import PostgresClient

/// What the SQL page's database user must not be able to do, regardless of the transaction.
enum SQLUser {
    /// PostgreSQL's predefined roles that reach beyond tables.
    private static let powerfulRoles = [
        "pg_execute_server_program", "pg_read_server_files", "pg_write_server_files", "pg_signal_backend",
        "pg_write_all_data",
    ]
    /// Tables in the schema `tombolo` that contain secrets.
    static let secretTables = [
        "api_key", "credential", "invitation", "mail_token", "panel_session", "provider", "recovery_code",
        "refresh_token", "second_factor", "setting", "signing_key_secret",
    ]

    /// - Returns: what the connection's user may do besides reading; nil if it can only read.
    static func power(_ connection: PostgresConnection) async throws -> SQLPower? {
        let found = try await connection.query(sql, [.textArray(powerfulRoles), .textArray(secretTables)]).first
        return try found.flatMap { row in
            let name = try row[1].string
            return switch try row[0].int {
            case 1: .superuser
            case 2: .bypassesRowSecurity
            case 3: .replicates
            case 4: .makesRoles
            case 5: .isMember(ofRole: name)
            case 6: .readsSecrets(table: name)
            default: .writes(table: name)
            }
        }
    }

    /// Checks every role that the user could become with SET ROLE.
    private static let sql = """
        WITH member AS MATERIALIZED (
            SELECT oid, rolname, rolsuper, rolbypassrls, rolreplication, rolcreaterole FROM pg_catalog.pg_roles
            WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
        ), relation AS MATERIALIZED (
            SELECT c.oid, n.nspname || '.' || c.relname AS name,
                n.nspname = 'tombolo' AND c.relname = ANY ($2) AS is_secret
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema'
                AND n.nspname NOT LIKE 'pg\\_%'
        ), found (place, name) AS (
            SELECT 1, '' FROM member WHERE rolsuper
            UNION ALL SELECT 2, '' FROM member WHERE rolbypassrls
            UNION ALL SELECT 3, '' FROM member WHERE rolreplication
            UNION ALL SELECT 4, '' FROM member WHERE rolcreaterole
            UNION ALL SELECT 5, rolname FROM member WHERE rolname = ANY ($1)
            UNION ALL SELECT 6, r.name FROM member m, relation r
            WHERE r.is_secret AND pg_catalog.has_any_column_privilege(m.oid, r.oid, 'SELECT')
            UNION ALL SELECT 7, r.name FROM member m, relation r
            WHERE pg_catalog.has_table_privilege(m.oid, r.oid, 'DELETE, TRUNCATE')
                OR pg_catalog.has_any_column_privilege(m.oid, r.oid, 'INSERT, UPDATE')
        )
        SELECT place, name FROM found ORDER BY place, name LIMIT 1
        """
}
