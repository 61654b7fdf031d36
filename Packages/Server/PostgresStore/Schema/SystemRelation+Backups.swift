/// The backups that admin servers have made.
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
                """)
    ]
}
