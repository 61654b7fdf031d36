/// The tables of second factors, for the admin server only. Whether and since when an account has one is in
/// `tombolo.account`, whose changes go to the audit log.
enum SecondFactorSchema {
    static let sql = """
        ALTER TABLE tombolo.account ADD COLUMN IF NOT EXISTS second_factor_at timestamptz;
        COMMENT ON COLUMN tombolo.account.second_factor_at IS
            'Since when the admin server takes a second factor of the account; NULL for none.';
        ALTER TABLE tombolo.login_session ADD COLUMN IF NOT EXISTS second_factor boolean NOT NULL DEFAULT false;
        COMMENT ON COLUMN tombolo.login_session.second_factor IS 'Whether the login was made with the second factor.';
        CREATE TABLE IF NOT EXISTS tombolo.second_factor (
            user_id bytea PRIMARY KEY REFERENCES tombolo.account (id) ON DELETE CASCADE,
            secret bytea,
            pending bytea,
            last_step bigint NOT NULL DEFAULT 0
        );
        COMMENT ON TABLE tombolo.second_factor IS
            'Secrets of authenticator apps, sealed with the servers'' secret: for the admin server only.';
        COMMENT ON COLUMN tombolo.second_factor.pending IS 'Of one that is being set up, until a code has confirmed it.';
        COMMENT ON COLUMN tombolo.second_factor.last_step IS 'Codes of this step of time and before are refused.';
        CREATE TABLE IF NOT EXISTS tombolo.recovery_code (
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
            used_at timestamptz,
            PRIMARY KEY (user_id, code_hash)
        );
        COMMENT ON TABLE tombolo.recovery_code IS 'Hashes of recovery codes: for the admin server only.';
        """

    static let tables: Set<String> = ["second_factor", "recovery_code"]
}
