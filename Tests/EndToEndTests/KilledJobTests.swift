import PostgresClient
import Testing

@Suite("Admin servers that are killed while they process a job", .serialized, .timeLimit(.minutes(15)))
struct KilledJobTests {
    private static let rows = 900

    @Test("leave whole batches, others go on, and each row is processed once, as is each row of the undo")
    func killed() async throws {
        let stage = try await KilledStage("killed-job")
        // A trigger counts every change of a row, in its transaction.
        try await stage.owner.execute(
            """
            INSERT INTO track (_id, name) SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'old' FROM generate_series(1, \(Self.rows)) n;
            CREATE TABLE public.seen (name text, key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM public.pass(); INSERT INTO public.seen VALUES (NEW.name, NEW._id); RETURN NEW; END$$;
            CREATE TRIGGER slowly BEFORE UPDATE ON track FOR EACH ROW EXECUTE FUNCTION public.slowly();
            INSERT INTO tombolo.job (kind, class, user_id, state, arguments, total) VALUES
                ('update', 'Track', '\(stage.user)', 'queued', '{"data": {"attributes": {"name": "new"}}}', \(Self.rows));
            INSERT INTO tombolo.job_row (job, number, key) SELECT 1, row_number() OVER (ORDER BY _id), encode(_id, 'hex') FROM track
            """)
        try await Self.work(stage, job: 1, name: "new")
        let job = try await stage.owner.query("SELECT state, done::int, refused::int FROM tombolo.job WHERE id = 1")[0]
        #expect(try job[0].string == "done" && job[1].int == Self.rows && job[2].int == 0)

        try await stage.owner.execute(
            """
            UPDATE track SET name = 'mine' WHERE _id = decode(lpad('5', 24, '0'), 'hex');
            INSERT INTO tombolo.job (kind, class, user_id, state, arguments, total, reverts) VALUES
                ('undo', 'Track', '\(stage.user)', 'queued', '{}', \(Self.rows), 1);
            INSERT INTO tombolo.job_row (job, number, key, old, new)
            SELECT 2, row_number() OVER (ORDER BY number DESC), key, old, new FROM tombolo.job_row WHERE job = 1
            """)
        try await Self.work(stage, job: 2, name: "old")
        let undo = try await stage.owner.query(
            "SELECT state, done::int, left_alone::int FROM tombolo.job WHERE id = 2")
        #expect(try undo[0, 0].string == "done" && undo[0, 1].int == Self.rows - 1 && undo[0, 2].int == 1)
        try await stage.end()
    }

    private static func work(_ stage: KilledStage, job: Int, name: String) async throws {
        try await stage.work(job: job) {
            let row = try await stage.owner.query(
                """
                SELECT (SELECT count(*) FROM seen WHERE name = $1)::int,
                    (SELECT count(DISTINCT key) FROM seen WHERE name = $1)::int,
                    (SELECT count(*) FROM tombolo.job_row WHERE job = \(job) AND outcome = 'd')::int,
                    (SELECT done FROM tombolo.job WHERE id = \(job))::int
                """, [.text(name)])[0]
            let (changes, changed, done, counted) = (
                try row[0].int, try row[1].int, try row[2].int, try row[3].int
            )
            #expect(changes == changed, "a row was changed twice")
            #expect(done == changes && counted == changes, "the job's record doesn't match the changes")
        }
    }
}
