import EventModels
import PostgresClient

/// The tables of authentication. They have no model class, so that nothing that works on classes (sync, lists,
/// exports) can reach them.
public enum AuthenticationSchema {
    /// The SQL that makes them where they are missing. The class tables must exist.
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
        """

    /// What a role needs that logs people in.
    public static func grants(to role: String) -> String {
        let role = PostgresSQL.quoteIdentifier(role)
        return """
            GRANT USAGE ON SCHEMA tombolo TO \(role);
            GRANT SELECT, INSERT, UPDATE ON tombolo.credential TO \(role);
            """
    }
}
