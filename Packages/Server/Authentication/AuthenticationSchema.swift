import EventModels
import PostgresClient

/// The tables of authentication, and what guards accounts in the class tables. The tables have no model class, so that
/// nothing that works on classes (sync, lists, exports) can reach them.
public enum AuthenticationSchema {
    /// The SQL that makes all of it; running it again does no harm. The class tables must exist.
    public static let sql = """
        CREATE SCHEMA IF NOT EXISTS tombolo;
        CREATE TABLE IF NOT EXISTS tombolo.credential (
            user_id bytea PRIMARY KEY REFERENCES \(Accounts.users) ("_id") ON DELETE CASCADE,
            algorithm text NOT NULL CHECK (algorithm = 'scrypt'),
            rounds bigint NOT NULL CHECK (rounds > 1),
            block_size bigint NOT NULL CHECK (block_size > 0),
            parallelism bigint NOT NULL CHECK (parallelism > 0),
            salt bytea NOT NULL CHECK (octet_length(salt) >= \(PasswordHash.saltByteCount)),
            key bytea NOT NULL CHECK (octet_length(key) = \(PasswordHash.keyByteCount)),
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.credential IS 'Password hashes: for the login services only.';
        CREATE TABLE IF NOT EXISTS tombolo.token_generation (
            user_id bytea PRIMARY KEY REFERENCES \(Accounts.users) ("_id") ON DELETE CASCADE,
            generation bigint NOT NULL CHECK (generation > 0),
            changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.token_generation IS
            'Access tokens of another generation are revoked; a user without a row has generation 0.';
        \(SuperAdminProtection.sql);
        """

    /// Tables in `tombolo` that ``sql`` makes.
    public static let tables: Set<String> = ["credential", "token_generation"]
    /// Source texts of the functions in `tombolo` that ``sql`` makes, by name.
    public static let functions = SuperAdminProtection.functions
    /// What ``sql`` makes on class tables, as `table.trigger`.
    public static let triggers = SuperAdminProtection.triggers
    /// What ``sql`` makes on class tables, as `table.policy`.
    public static let policies = SuperAdminProtection.policies

    /// What a role needs that checks access tokens, besides reading accounts and role assignments.
    public static let tokenTable = "tombolo.token_generation"

    /// What a role needs that logs people in.
    public static func grants(to role: String) -> String {
        let role = PostgresSQL.quoteIdentifier(role)
        return """
            GRANT USAGE ON SCHEMA tombolo TO \(role);
            GRANT SELECT, INSERT, UPDATE ON tombolo.credential, \(tokenTable) TO \(role);
            """
    }
}
