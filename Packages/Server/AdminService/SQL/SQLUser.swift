import PostgresClient

/// What the database user of the SQL page mustn't be able to do, whatever a transaction permits.
enum SQLUser {
    /// Roles of PostgreSQL's that reach beyond tables.
    private static let powerfulRoles = [
        "pg_execute_server_program", "pg_read_server_files", "pg_write_server_files", "pg_signal_backend",
        "pg_write_all_data",
    ]
    /// Tables with secrets, in the schema `tombolo`.
    static let secretTables = [
        "api_key", "credential", "invitation", "mail_token", "panel_session", "provider", "recovery_code",
        "refresh_token", "second_factor", "signing_key_secret",
    ]

    /// - Returns: what the user of the connection may do, to follow its name; nil if it only reads.
    static func refusal(_ connection: PostgresConnection) async throws -> String? {
        try await connection.query(sql, [.textArray(powerfulRoles), .textArray(secretTables)]).first.map {
            try $0[0].string
        }
    }

    /// Looks at every role that the user could become by SET ROLE.
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
        ), found (place, reason) AS (
            SELECT 1, 'is a superuser' FROM member WHERE rolsuper
            UNION ALL SELECT 2, 'bypasses row-level security (BYPASSRLS)' FROM member WHERE rolbypassrls
            UNION ALL SELECT 3, 'may replicate (REPLICATION)' FROM member WHERE rolreplication
            UNION ALL SELECT 4, 'may make roles (CREATEROLE)' FROM member WHERE rolcreaterole
            UNION ALL SELECT 5, 'is a member of ' || rolname FROM member WHERE rolname = ANY ($1)
            UNION ALL SELECT 6, 'may read secrets in ' || r.name FROM member m, relation r
            WHERE r.is_secret AND pg_catalog.has_any_column_privilege(m.oid, r.oid, 'SELECT')
            UNION ALL SELECT 7, 'may write to ' || r.name FROM member m, relation r
            WHERE pg_catalog.has_table_privilege(m.oid, r.oid, 'DELETE, TRUNCATE')
                OR pg_catalog.has_any_column_privilege(m.oid, r.oid, 'INSERT, UPDATE')
        )
        SELECT reason FROM found ORDER BY place, reason LIMIT 1
        """
}
