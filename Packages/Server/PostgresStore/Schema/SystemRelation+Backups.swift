/// The backups that admin servers have made and restored.
extension SystemRelation {
    static let backups: [SystemRelation] = [
        SystemRelation(
            name: "backup",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.backup (
                    name text COLLATE "C" PRIMARY KEY,
                    is_automatic boolean NOT NULL,
                    user_id bytea,
                    server_version text,
                    started_at timestamptz NOT NULL,
                    finished_at timestamptz,
                    byte_count bigint,
                    problem text
                );
                COMMENT ON TABLE tombolo.backup IS \
                'What became of each backup. The files themselves are in the folder of the server that made them.'
                """),
        SystemRelation(
            name: "restore",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.restore (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    source text COLLATE "C" NOT NULL,
                    user_id bytea,
                    user_name text NOT NULL,
                    started_at timestamptz NOT NULL,
                    finished_at timestamptz,
                    problem text,
                    kept text COLLATE "C"
                );
                COMMENT ON TABLE tombolo.restore IS \
                'What became of each restore of a backup in the admin panel.';
                COMMENT ON COLUMN tombolo.restore.kept IS \
                'What the database that was in use until then is called since.'
                """),
    ]
}
