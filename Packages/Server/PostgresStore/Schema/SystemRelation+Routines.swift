/// The last runs of what servers do by themselves.
extension SystemRelation {
    static let routines: [SystemRelation] = [
        SystemRelation(
            name: "routine",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.routine (
                    name text COLLATE "C" PRIMARY KEY,
                    started_at timestamptz NOT NULL,
                    finished_at timestamptz NOT NULL,
                    next_at timestamptz NOT NULL,
                    result text,
                    problem text
                );
                COMMENT ON TABLE tombolo.routine IS \
                'The last run of each kind of work that servers do by themselves, and when the next one is due.'
                """)
    ]
}
