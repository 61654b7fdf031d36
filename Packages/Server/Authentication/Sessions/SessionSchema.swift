/// The tables of login sessions: what is known about a session, kept apart from its secrets, which the database roles
/// of services that only check access tokens must not read.
enum SessionSchema {
    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.login_session (
            id bytea PRIMARY KEY CHECK (octet_length(id) = 12),
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            generation bigint NOT NULL,
            provider text NOT NULL,
            api_key bytea,
            device_id bytea NOT NULL CHECK (octet_length(device_id) = 12),
            device_name text,
            device_platform text,
            device_app text,
            created_at timestamptz NOT NULL,
            last_used_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            revoked_at timestamptz,
            end_reason text
        );
        CREATE INDEX IF NOT EXISTS login_session_user ON tombolo.login_session (user_id);
        COMMENT ON TABLE tombolo.login_session IS
            'One row for each login. Access tokens of a session with revoked_at, or of another generation than the '
            'account''s in token_generation, are refused.';
        CREATE TABLE IF NOT EXISTS tombolo.refresh_token (
            session_id bytea PRIMARY KEY REFERENCES tombolo.login_session (id) ON DELETE CASCADE,
            family_hash bytea NOT NULL CHECK (octet_length(family_hash) = 32),
            token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
            previous_hash bytea,
            successor_seed bytea,
            exchanged_at timestamptz,
            repeats smallint NOT NULL DEFAULT 0
        );
        COMMENT ON TABLE tombolo.refresh_token IS 'Hashes of refresh tokens: for the login services only.';
        """

    static let tables: Set<String> = ["login_session", "refresh_token"]

    /// Gateways look up an account again with the tick that ends one of its sessions. A login or an exchange of tokens
    /// concerns nobody else.
    static let triggers = """
        CREATE OR REPLACE TRIGGER tombolo_log AFTER UPDATE ON tombolo.login_session FOR EACH ROW \
        WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION tombolo.log_login_session();
        ALTER TABLE tombolo.login_session ENABLE ALWAYS TRIGGER tombolo_log;
        CREATE OR REPLACE TRIGGER tombolo_log_delete AFTER DELETE ON tombolo.login_session FOR EACH ROW \
        WHEN (OLD.revoked_at IS NULL) EXECUTE FUNCTION tombolo.log_login_session();
        ALTER TABLE tombolo.login_session ENABLE ALWAYS TRIGGER tombolo_log_delete
        """
}
