import NIOHTTP1
import PostgresClient
import Testing

@Suite("Admin servers that are killed while they import a file", .serialized, .timeLimit(.minutes(15)))
struct KilledImportTests {
    private static let (oldCount, newCount) = (300, 600)

    @Test("lose no row and create none twice, and neither does the undo")
    func killed() async throws {
        let stage = try await Self.stage()
        let first = stage.server("first")
        try await first.start()
        let call = try await stage.client(of: first)
        let rows =
            (1...Self.oldCount).map { "\(Self.id($0)),u\($0)" } + (1...Self.newCount).map { ",c\($0)" }
        let upload = try await AdminClient.send(
            "\(call.url)/import/tracks", "id,name\n" + rows.joined(separator: "\n"), type: "text/csv", token: call.token
        )
        let job = try #require(upload.number("job.id"), "\(upload.content)")
        let preview = try await call(.POST, "/import/tracks/\(job)/preview", #"{"mode": "upsert"}"#)
        #expect(preview.number("creates") == Self.newCount && preview.number("updates") == Self.oldCount)
        let version = try #require(preview.text("version"))
        _ = try await stage.turnstile.admit(Int.random(in: 0...Self.oldCount))
        let started = try await call(
            .POST, "/import/tracks/\(job)/start", #"{"mode": "upsert", "expect": {"version": "\#(version)"}}"#)
        #expect(started.status == 202, "\(started.content)")
        try await first.kill9()
        try await stage.untilOrphansEnd()
        try await Self.work(stage, job: job)
        let over = try await stage.owner.query("SELECT state, done::int FROM tombolo.job WHERE id = \(job)")[0]
        #expect(try over[0].string == "done" && over[1].int == rows.count)
        let made = try await stage.owner.query(
            """
            SELECT count(*)::int, count(DISTINCT name)::int,
                count(*) FILTER (WHERE left(name, 1) = 'u')::int, count(*) FILTER (WHERE left(name, 1) = 'c')::int
            FROM track
            """)[0]
        #expect(try made[0].int == rows.count && made[1].int == rows.count)
        #expect(try made[2].int == Self.oldCount && made[3].int == Self.newCount)

        let second = stage.server("second")
        try await second.start()
        _ = try await stage.turnstile.admit(Int.random(in: 0...Self.oldCount))
        let undo = try await AdminClient(url: await second.url, token: call.token)(.POST, "/jobs/\(job)/undo")
        let undoing = try #require(undo.number("id"), "\(undo.content)")
        try await second.kill9()
        try await stage.untilOrphansEnd()
        try await Self.work(stage, job: undoing)
        let undone = try await stage.owner.query("SELECT state, done::int FROM tombolo.job WHERE id = \(undoing)")[0]
        #expect(try undone[0].string == "done" && undone[1].int == rows.count)
        let live = try await stage.owner.query(
            "SELECT count(*)::int, count(*) FILTER (WHERE left(name, 1) = 'o')::int FROM track WHERE trashed_at IS NULL"
        )[0]
        #expect(try live[0].int == Self.oldCount && live[1].int == Self.oldCount, "the undo left changes")
        try await stage.end()
    }

    private static func id(_ number: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 24 - text.count) + text
    }

    private static func stage() async throws -> KilledStage {
        let stage = try await KilledStage("killed-import")
        // A trigger counts every change of a row, in its transaction.
        try await stage.owner.execute(
            """
            INSERT INTO track (_id, name)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'o' || n FROM generate_series(1, \(oldCount)) n;
            CREATE TABLE public.seen (what text, key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN
                PERFORM public.pass();
                INSERT INTO public.seen VALUES
                    (TG_OP || left(NEW.name, 1) || (NEW.trashed_at IS NOT NULL)::text, NEW._id);
                RETURN NEW;
            END$$;
            CREATE TRIGGER slowly BEFORE INSERT OR UPDATE ON track FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
        return stage
    }

    private static func work(_ stage: KilledStage, job: Int) async throws {
        try await stage.work(job: job) {
            let row = try await stage.owner.query(
                """
                SELECT (SELECT count(*) FROM seen)::int, (SELECT count(DISTINCT (what, key)) FROM seen)::int,
                    (SELECT count(*) FROM tombolo.job_row WHERE outcome = 'd')::int,
                    (SELECT sum(done) FROM tombolo.job)::int
                """)[0]
            let (changes, changed, done, counted) = (
                try row[0].int, try row[1].int, try row[2].int, try row[3].int
            )
            #expect(changes == changed, "a row was created or changed twice")
            #expect(done == changes && counted == changes, "the job's record doesn't match the changes")
        }
    }
}
