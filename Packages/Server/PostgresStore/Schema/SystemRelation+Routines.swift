/// The last runs of servers' periodic work.
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
                """),
        SystemRelation(
            name: "routine.messages",
            sql: """
                ALTER TABLE tombolo.routine ADD COLUMN IF NOT EXISTS messages json;
                COMMENT ON COLUMN tombolo.routine.messages IS \
                'The result as texts to translate, each with its values; counts if it says the same in English.'
                """),
    ]
}
