import NIOHTTP1
import PostgresClient
import Testing
import TomboloModel

@Suite(
    "Admin servers that are killed while they trash, restore or delete many resources", .serialized,
    .timeLimit(.minutes(15)))
struct KilledBulkActionTests {
    private static let rows = 600

    /// The action that a job performs, with SQL that counts the resources in the state that it leaves them in.
    enum Action: String, CaseIterable, Sendable {
        case trash, restore, delete

        var path: String {
            self == .delete ? "/bulk/role_assignments?filter%5Brole%5D=moderator" : "/bulk/tracks"
        }

        var changed: String {
            switch self {
            case .trash: "SELECT count(*) FROM track WHERE trashed_at IS NOT NULL"
            case .restore: "SELECT count(*) FROM track WHERE trashed_at IS NULL"
            case .delete:
                "SELECT \(KilledBulkActionTests.rows) - count(*) FROM role_assignment WHERE role = 'moderator'"
            }
        }
    }

    /// Makes tracks, each with a session that goes along, or role assignments in events. Every row that a job processes
    /// is recorded in the row's transaction.
    private static func stage(_ action: Action) async throws -> KilledStage {
        let stage = try await KilledStage("killed-\(action.rawValue)")
        try await stage.owner.execute(
            """
            UPDATE tombolo.class_column SET goes_along = true WHERE name = 'track';
            INSERT INTO track (_id, name)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), n FROM generate_series(1, \(rows)) n;
            INSERT INTO session (_id, title, track)
                SELECT decode(lpad(to_hex(n + 16777216), 24, '0'), 'hex'), n, decode(lpad(to_hex(n), 24, '0'), 'hex')
                FROM generate_series(1, \(rows)) n;
            INSERT INTO event (_id, name, identifier, state, privacy, starts_at, ends_at)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), n, n, 'draft', 'public', now(), now()
                FROM generate_series(1, \(rows)) n;
            INSERT INTO role_assignment (_id, "user", role, event)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), decode('\(stage.user)', 'hex'), 'moderator',
                    decode(lpad(to_hex(n), 24, '0'), 'hex')
                FROM generate_series(1, \(rows)) n;
            """)
        if action == .restore { try await stage.owner.execute("UPDATE track SET trashed_at = now()") }
        try await stage.owner.execute(
            """
            CREATE TABLE public.seen (key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN
                PERFORM public.pass();
                INSERT INTO public.seen VALUES (OLD._id);
                RETURN coalesce(NEW, OLD);
            END$$;
            CREATE TRIGGER slowly BEFORE UPDATE ON track FOR EACH ROW
                WHEN (OLD.trashed_at IS DISTINCT FROM NEW.trashed_at) EXECUTE FUNCTION public.slowly();
            CREATE TRIGGER slowly BEFORE DELETE ON role_assignment FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
        return stage
    }

    @Test(
        "leave whole groups in whole batches, others go on, and each row is processed once: its job says it's in batches",
        arguments: Action.allCases)
    func killed(_ action: Action) async throws {
        let stage = try await Self.stage(action)
        let first = stage.server("first")
        try await first.start()
        let call = try await stage.client(of: first)
        let order = #""action": "\#(action.rawValue)", "all": true"#
        let trial = try await call(.POST, action.path, #"{\#(order), "dryRun": true}"#)
        #expect(trial.number("count") == Self.rows && trial.number("refused") == 0, "\(trial.content)")
        let version = try #require(trial.text("version"))
        _ = try await stage.turnstile.admit(Int.random(in: 0...Self.rows / 3))
        let asked = try await call(
            .POST, action.path, #"{\#(order), "expect": {"count": \#(Self.rows), "version": "\#(version)"}}"#)
        let job = try #require(asked.number("id"), "\(asked.content)")
        try await first.kill9()
        try await stage.untilOrphansEnd()
        try await stage.work(job: job) {
            let row = try await stage.owner.query(
                """
                SELECT (SELECT count(*) FROM seen)::int, (SELECT count(DISTINCT key) FROM seen)::int,
                    (\(action.changed))::int,
                    (SELECT count(*) FROM tombolo.job_row WHERE job = \(job) AND outcome = 'd')::int,
                    (SELECT done FROM tombolo.job WHERE id = \(job))::int,
                    (SELECT count(*) FROM track t JOIN session s ON s.track = t._id
                        WHERE (s.trashed_at, s.trash_group) IS DISTINCT FROM (t.trashed_at, t.trash_group))::int
                """)[0]
            let changes = try row[0].int
            #expect(try row[1].int == changes, "a row was processed twice")
            #expect(try row[2].int == changes, "the rows don't match the processed count")
            #expect(try row[3].int == changes && row[4].int == changes, "the job's record is wrong")
            #expect(try row[5].int == 0, "a group is torn")
        }
        let over = try await stage.answer(of: job)
        #expect(over.text("state") == "done" && over.text("atomicity") == "batches", "\(over.content)")
        #expect(over.number("done") == Self.rows && over.number("refused") == 0, "\(over.content)")
        try await stage.end()
    }
}
