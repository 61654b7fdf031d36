/// The table of the counts that all servers share.
enum AttemptSchema {
    static let tables: Set<String> = ["attempt"]

    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.attempt (
            key bytea PRIMARY KEY CHECK (octet_length(key) = 32),
            attempts integer NOT NULL CHECK (attempts > 0),
            last_at timestamptz NOT NULL,
            ends_at timestamptz NOT NULL
        );
        CREATE INDEX IF NOT EXISTS attempt_ends ON tombolo.attempt (ends_at);
        COMMENT ON TABLE tombolo.attempt IS
            'Failed log-ins and wrong codes of an account, and mails to an address: what servers limit together.';
        COMMENT ON COLUMN tombolo.attempt.key IS
            'HMAC of the account or address with the servers'' secret: nobody finds out from it whom it is about.';
        COMMENT ON COLUMN tombolo.attempt.ends_at IS 'The row counts until then.';
        """
}
