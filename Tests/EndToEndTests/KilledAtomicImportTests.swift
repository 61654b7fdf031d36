import NIOHTTP1
import PostgresClient
import Testing

@Suite("An admin server that is killed during an all-or-nothing import", .serialized, .timeLimit(.minutes(15)))
struct KilledAtomicImportTests {
    private static let (oldCount, newCount) = (100, 200)

    /// A trigger counts every imported row, in the row's transaction.
    private static func stage() async throws -> KilledStage {
        let stage = try await KilledStage("killed-atomic-import")
        try await stage.owner.execute(
            """
            INSERT INTO track (_id, name)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'o' || n FROM generate_series(1, \(oldCount)) n;
            CREATE TABLE public.seen (key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN
                PERFORM public.pass();
                INSERT INTO public.seen VALUES (NEW._id);
                RETURN NEW;
            END$$;
            CREATE TRIGGER slowly BEFORE INSERT OR UPDATE ON track FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
        return stage
    }

    private static func checkNothingHappened(_ stage: KilledStage, _ job: Int) async throws {
        let row = try await stage.owner.query(
            """
            SELECT (SELECT count(*) FROM track)::int, (SELECT count(*) FROM track WHERE left(name, 1) = 'o')::int,
                (SELECT count(*) FROM seen)::int, j.done::int, j.is_atomic, j.state
            FROM tombolo.job j WHERE j.id = \(job)
            """)[0]
        #expect(try row[0].int == oldCount && row[1].int == oldCount && row[2].int == 0, "a part was imported")
        #expect(try row[3].int == 0 && row[4].bool && ["queued", "running"].contains(row[5].string))
    }

    @Test("leaves no trace of it, and another server does all of it once: the job says that it's all or nothing")
    func killed() async throws {
        let stage = try await Self.stage()
        let first = stage.server("first")
        try await first.start()
        let call = try await stage.client(of: first)
        let rows =
            (1...Self.oldCount).map { number in
                let text = String(number, radix: 16)
                return "\(String(repeating: "0", count: 24 - text.count))\(text),u\(number)"
            } + (1...Self.newCount).map { ",c\($0)" }
        let upload = try await AdminClient.send(
            "\(call.url)/import/tracks", "id,name\n" + rows.joined(separator: "\n"), type: "text/csv",
            token: call.token)
        let job = try #require(upload.number("job.id"), "\(upload.content)")
        let preview = try await call(.POST, "/import/tracks/\(job)/preview", #"{"mode": "upsert"}"#)
        let version = try #require(preview.text("version"), "\(preview.content)")
        let third = try await stage.turnstile.admit(rows.count / 3)
        let started = try await call(
            .POST, "/import/tracks/\(job)/start",
            #"{"mode": "upsert", "atomic": true, "expect": {"version": "\#(version)"}}"#)
        #expect(started.status == 202 && started.text("atomicity") == "all or nothing", "\(started.content)")
        try await stage.turnstile.untilPassed(third)
        try await first.kill9()
        try await stage.untilOrphansEnd()
        try await Self.checkNothingHappened(stage, job)

        let half = try await stage.turnstile.admit(rows.count / 2)
        let servers = [stage.server("second"), stage.server("third")]
        for server in servers { try await server.start() }
        try await stage.turnstile.untilPassed(half)
        for server in servers { try await server.kill9() }
        try await stage.untilOrphansEnd()
        try await Self.checkNothingHappened(stage, job)

        let last = stage.server("last")
        try await last.start()
        while try await stage.left(job) > 0 { await Task.yield() }
        let over = try await stage.client(of: last)(.GET, "/jobs/\(job)")
        #expect(over.text("state") == "done" && over.text("atomicity") == "all or nothing", "\(over.content)")
        #expect(over.number("done") == rows.count && over.number("refused") == 0, "\(over.content)")
        let made = try await stage.owner.query(
            """
            SELECT count(*)::int, count(DISTINCT name)::int, count(*) FILTER (WHERE left(name, 1) = 'o')::int,
                (SELECT count(*) FROM seen)::int, (SELECT count(DISTINCT key) FROM seen)::int
            FROM track
            """)[0]
        #expect(try made[0].int == rows.count && made[1].int == rows.count && made[2].int == 0)
        #expect(try made[3].int == rows.count && made[4].int == rows.count, "a row was made or changed twice")
        try await last.kill9()
        try await stage.end()
    }
}
