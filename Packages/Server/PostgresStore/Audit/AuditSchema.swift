/// The tables of the audit log. They belong to the owner; servers read and extend them only through functions.
enum AuditSchema {
    /// The value of the column `class` for an entry that isn't about an object.
    static let logClass: Int16 = 0

    /// The limit in bytes for each detail that a request gives about its author.
    static let authorByteCount = 200
    /// The most users that can share a transaction.
    static let authorCount = 1_000

    static let relations = [
        SystemRelation(
            name: "changelog.role",
            sql: """
                -- In two steps: rows that are there already don't get it.
                ALTER TABLE tombolo.changelog ADD COLUMN IF NOT EXISTS role text COLLATE "C";
                ALTER TABLE tombolo.changelog ALTER COLUMN role SET DEFAULT session_user;
                COMMENT ON COLUMN tombolo.changelog.role IS 'The database user that logged in, for the audit log.'
                """),
        SystemRelation(
            name: "class_column.is_secret",
            sql: """
                ALTER TABLE tombolo.class_column ADD COLUMN IF NOT EXISTS is_secret boolean NOT NULL DEFAULT false;
                COMMENT ON COLUMN tombolo.class_column.is_secret IS \
                'Whether the audit log leaves the property''s values out, and only says that they changed.'
                """),
        SystemRelation(
            name: "audit_entry",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.audit_entry (
                    id bigint NOT NULL,
                    at timestamptz NOT NULL,
                    tick bigint NOT NULL,
                    class smallint NOT NULL,
                    key text COLLATE "C" NOT NULL,
                    root text COLLATE "C",
                    operation "char" NOT NULL,
                    source "char" NOT NULL,
                    stamp bigint NOT NULL,
                    xid xid8,
                    user_id text COLLATE "C",
                    client bigint,
                    number bigint,
                    role text COLLATE "C",
                    address text COLLATE "C",
                    route text COLLATE "C",
                    before jsonb,
                    after jsonb,
                    secret text[] COLLATE "C",
                    PRIMARY KEY (at, id)
                ) PARTITION BY RANGE (at);
                CREATE INDEX IF NOT EXISTS audit_entry_object ON tombolo.audit_entry (class, key, at, id);
                CREATE INDEX IF NOT EXISTS audit_entry_root ON tombolo.audit_entry (root, at, id) WHERE root IS NOT NULL;
                CREATE INDEX IF NOT EXISTS audit_entry_user ON tombolo.audit_entry (user_id, at, id) \
                WHERE user_id IS NOT NULL;
                COMMENT ON TABLE tombolo.audit_entry IS 'Every change by anybody, see docs/audit.md. Rows are only added.';
                \(aggregates)
                """),
        SystemRelation(
            name: "audit_position",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.audit_position (
                    id boolean PRIMARY KEY DEFAULT true CHECK (id),
                    tick bigint,
                    token bigint,
                    goal bigint,
                    after_seq bigint,
                    last_id bigint NOT NULL DEFAULT 0,
                    at timestamptz NOT NULL DEFAULT '-infinity',
                    expired_to timestamptz
                );
                INSERT INTO tombolo.audit_position (id) VALUES (true) ON CONFLICT DO NOTHING;
                COMMENT ON TABLE tombolo.audit_position IS \
                'How far the audit log is: it has all that the tick sees, and of what the goal sees besides, up to after_seq.'
                """),
        SystemRelation(
            name: "audit_baseline",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.audit_baseline (
                    class smallint PRIMARY KEY,
                    last_key text COLLATE "C",
                    is_done boolean NOT NULL DEFAULT false
                );
                COMMENT ON TABLE tombolo.audit_baseline IS \
                'How far the audit log has the objects that were there when it began, by class.'
                """),
        SystemRelation(
            name: "audit_retention",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.audit_retention (
                    id boolean PRIMARY KEY DEFAULT true CHECK (id),
                    months integer NOT NULL CHECK (months > 0)
                );
                COMMENT ON TABLE tombolo.audit_retention IS \
                'How many whole months the audit log keeps; without a row all of them.'
                """),
    ]

    /// `audit_fold` merges values, later ones over earlier ones. `audit_replay` rebuilds an object from its entries.
    private static let aggregates = """
        CREATE OR REPLACE FUNCTION tombolo.audit_apply(p_state jsonb, p_operation "char", p_after jsonb) RETURNS jsonb \
        LANGUAGE sql IMMUTABLE AS $function$
            SELECT CASE WHEN p_operation = 'e' THEN NULL WHEN p_operation = 'u' THEN p_state || p_after ELSE p_after END
        $function$;
        REVOKE ALL ON FUNCTION tombolo.audit_apply(jsonb, "char", jsonb) FROM PUBLIC;
        CREATE OR REPLACE AGGREGATE tombolo.audit_replay("char", jsonb) (SFUNC = tombolo.audit_apply, STYPE = jsonb);
        REVOKE ALL ON FUNCTION tombolo.audit_replay("char", jsonb) FROM PUBLIC;
        CREATE OR REPLACE AGGREGATE tombolo.audit_fold(jsonb) (
            SFUNC = pg_catalog.jsonb_concat, STYPE = jsonb, INITCOND = '{}');
        REVOKE ALL ON FUNCTION tombolo.audit_fold(jsonb) FROM PUBLIC
        """
}
