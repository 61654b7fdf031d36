/// The tables for jobs: work of the admin servers that outlives a request.
extension SystemRelation {
    static let jobs: [SystemRelation] = [
        SystemRelation(
            name: "job",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.job (
                    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                    kind text COLLATE "C" NOT NULL,
                    class text COLLATE "C" NOT NULL,
                    user_id text COLLATE "C" NOT NULL,
                    state text COLLATE "C" NOT NULL
                        CHECK (state IN ('draft', 'queued', 'running', 'done', 'failed', 'cancelled')),
                    arguments text NOT NULL,
                    is_atomic boolean NOT NULL DEFAULT false,
                    reverts bigint REFERENCES tombolo.job (id) ON DELETE SET NULL,
                    total bigint NOT NULL DEFAULT 0,
                    done bigint NOT NULL DEFAULT 0,
                    refused bigint NOT NULL DEFAULT 0,
                    left_alone bigint NOT NULL DEFAULT 0,
                    cursor bigint NOT NULL DEFAULT 0,
                    attempts integer NOT NULL DEFAULT 0,
                    message text,
                    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                    started_at timestamptz,
                    progress_at timestamptz,
                    finished_at timestamptz
                );
                CREATE INDEX IF NOT EXISTS job_user ON tombolo.job (user_id, id);
                CREATE INDEX IF NOT EXISTS job_reverts ON tombolo.job (reverts) WHERE reverts IS NOT NULL;
                CREATE INDEX IF NOT EXISTS job_open ON tombolo.job (user_id, id) WHERE state IN ('queued', 'running');
                COMMENT ON TABLE tombolo.job IS \
                'Work on many objects. The batch under way locks the row, and moves its cursor in the same transaction.';
                COMMENT ON COLUMN tombolo.job.cursor IS 'The number of the last row that was worked off.';
                COMMENT ON COLUMN tombolo.job.reverts IS 'The job that this one undoes.'
                """),
        SystemRelation(
            name: "job_row",
            sql: """
                CREATE TABLE IF NOT EXISTS tombolo.job_row (
                    job bigint NOT NULL REFERENCES tombolo.job (id) ON DELETE CASCADE,
                    number bigint NOT NULL,
                    key text COLLATE "C",
                    outcome "char" NOT NULL DEFAULT 'p' CHECK (outcome IN ('p', 'd', 'r', 'l')),
                    reason text,
                    source text,
                    old text,
                    new text,
                    PRIMARY KEY (job, number)
                ) WITH (fillfactor = 70);
                COMMENT ON TABLE tombolo.job_row IS \
                'The objects of a job, chosen when it was made: pending, done, refused or left alone, with what it takes to \
                undo it.'
                """),
        SystemRelation(
            name: "job_row.plan",
            sql: """
                ALTER TABLE tombolo.job_row ADD COLUMN IF NOT EXISTS plan "char" CHECK (plan IN ('c', 'u', 'r'));
                COMMENT ON COLUMN tombolo.job_row.plan IS \
                'Of an import: whether the row creates an object, updates one, or is refused, as its preview said.'
                """),
        SystemRelation(
            name: "job.message_wording",
            sql: """
                ALTER TABLE tombolo.job ADD COLUMN IF NOT EXISTS message_wording json;
                COMMENT ON COLUMN tombolo.job.message_wording IS \
                'The message as texts to translate, each with its values; counts if it says the same in English.'
                """),
        SystemRelation(
            name: "job_row.reason_wording",
            sql: """
                ALTER TABLE tombolo.job_row ADD COLUMN IF NOT EXISTS reason_wording json;
                COMMENT ON COLUMN tombolo.job_row.reason_wording IS \
                'The reason as texts to translate, each with its values; counts if it says the same in English.'
                """),
    ]
}
