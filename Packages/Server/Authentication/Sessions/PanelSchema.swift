/// The tables of the admin panel: its sessions, which belong to login sessions, its users' saved lists, its settings,
/// and who viewed, backed up, restored or ran what.
enum PanelSchema {
    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.panel_session (
            token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
            session_id bytea NOT NULL UNIQUE REFERENCES tombolo.login_session (id) ON DELETE CASCADE,
            created_at timestamptz NOT NULL,
            used_at timestamptz NOT NULL,
            proved_at timestamptz NOT NULL
        );
        COMMENT ON TABLE tombolo.panel_session IS
            'Hashes of the cookies of the admin panel: for the admin server only.';
        CREATE TABLE IF NOT EXISTS tombolo.panel_view (
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            class text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            query text COLLATE "C" NOT NULL,
            PRIMARY KEY (user_id, class, name)
        );
        CREATE TABLE IF NOT EXISTS tombolo.panel_viewing (
            session_id bytea NOT NULL REFERENCES tombolo.login_session (id) ON DELETE CASCADE,
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            viewed text COLLATE "C" NOT NULL,
            began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            ended_at timestamptz
        );
        CREATE UNIQUE INDEX IF NOT EXISTS panel_viewing_of_a_session ON tombolo.panel_viewing (session_id)
            WHERE ended_at IS NULL;
        COMMENT ON TABLE tombolo.panel_viewing IS
            'Who looks at the admin panel as whom. What becomes of it is in the audit log.';
        COMMENT ON TABLE tombolo.panel_view IS 'Lists of the admin panel that users keep by a name.';
        CREATE TABLE IF NOT EXISTS tombolo.panel_backup (
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            act text COLLATE "C" NOT NULL CHECK (act IN ('requested', 'downloaded', 'deleted')),
            backup text COLLATE "C" NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.panel_backup IS
            'Who did what with which backup in the admin panel. What becomes of it is in the audit log.';
        CREATE TABLE IF NOT EXISTS tombolo.panel_restore (
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            act text COLLATE "C" NOT NULL CHECK (act IN ('requested', 'restored', 'deleted')),
            source text COLLATE "C" NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.panel_restore IS
            'Who restored which backup in the admin panel. What becomes of it is in the audit log.';
        CREATE TABLE IF NOT EXISTS tombolo.panel_run (
            user_id bytea NOT NULL REFERENCES tombolo.account (id) ON DELETE CASCADE,
            routine text COLLATE "C" NOT NULL,
            at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        COMMENT ON TABLE tombolo.panel_run IS
            'Who had which scheduled job run in the admin panel. What becomes of it is in the audit log.';
        CREATE TABLE IF NOT EXISTS tombolo.setting (
            name text COLLATE "C" NOT NULL CHECK (octet_length(name) BETWEEN 1 AND 100),
            number bigint NOT NULL CHECK (number > 0),
            value text COLLATE "C" CHECK (octet_length(value) BETWEEN 1 AND \(AuthenticationSchema.maximumSettingByteCount)),
            shown text COLLATE "C" CHECK (octet_length(shown) BETWEEN 1 AND \(AuthenticationSchema.maximumSettingByteCount)),
            user_id bytea NOT NULL CHECK (octet_length(user_id) = 12),
            at timestamptz NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (name, number),
            CHECK ((value IS NULL) = (shown IS NULL))
        );
        COMMENT ON TABLE tombolo.setting IS
            'Changes of settings in the admin panel, which are only added: of each name the greatest number counts.';
        COMMENT ON COLUMN tombolo.setting.value IS 'NULL for the default again.';
        COMMENT ON COLUMN tombolo.setting.shown IS 'What people may see of the value, also in the audit log.';
        """

    static let tables: Set<String> = [
        "panel_session", "panel_view", "panel_viewing", "panel_backup", "panel_restore", "panel_run",
        "setting",
    ]
}
