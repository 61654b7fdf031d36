/// The table of invitations. The tables of accounts must exist.
enum InvitationSchema {
    static let tables: Set<String> = ["invitation"]

    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.invitation (
            id bytea PRIMARY KEY CHECK (octet_length(id) = 12),
            token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
            email text COLLATE "C" NOT NULL,
            class text COLLATE "C" NOT NULL,
            role text COLLATE "C" NOT NULL,
            scope text COLLATE "C",
            invited_by bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE ON UPDATE CASCADE,
            created_at timestamptz NOT NULL,
            sent_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            send_count integer NOT NULL DEFAULT 1,
            is_mailed boolean NOT NULL,
            accepted_at timestamptz,
            accepted_by bytea,
            revoked_at timestamptz,
            revoked_by bytea
        );
        CREATE UNIQUE INDEX IF NOT EXISTS invitation_open ON tombolo.invitation (email, class, role, coalesce(scope, ''))
        WHERE accepted_at IS NULL AND revoked_at IS NULL;
        CREATE INDEX IF NOT EXISTS invitation_scope ON tombolo.invitation (class, scope);
        CREATE INDEX IF NOT EXISTS invitation_inviter ON tombolo.invitation (invited_by);
        COMMENT ON TABLE tombolo.invitation IS
            'Roles that are offered to e-mail addresses. Of a token only the hash is here.';
        """
}
