import ChildPrograms
import ConferenceSetup
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloServerModel

@Suite("Admin servers that are killed while they work off a job", .serialized, .timeLimit(.minutes(5)))
struct KilledJobTests {
    private static let rows = 900

    @Test("leave whole batches, others go on, each row is done once, and so is each row of the undo")
    func killed() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        let pool = PostgresPool(configuration: configuration, options: .init(maximumConnections: 2))
        let models = try await ServerModels.load(pool)
        let user = try await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants }
        ).register(email: "ada@example.org", password: "correct horse", displayName: "Ada")
        await pool.shutdown()
        try await owner.query(
            "INSERT INTO role_assignment (_id, \"user\", role) VALUES (substr(sha256('x'), 1, 12), $1, 'superAdmin')",
            [.bytea(user.bytes)])
        // Every change of a row is counted in its transaction, and takes a moment.
        try await owner.execute(
            """
            INSERT INTO track (_id, name) SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'old' FROM generate_series(1, \(Self.rows)) n;
            CREATE TABLE public.seen (name text, key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM pg_sleep(0.002); INSERT INTO public.seen VALUES (NEW.name, NEW._id); RETURN NEW; END$$;
            CREATE TRIGGER slowly BEFORE UPDATE ON track FOR EACH ROW EXECUTE FUNCTION public.slowly();
            INSERT INTO tombolo.job (kind, class, user_id, state, arguments, total) VALUES
                ('update', 'Track', '\(user)', 'queued', '{"data": {"attributes": {"name": "new"}}}', \(Self.rows));
            INSERT INTO tombolo.job_row (job, number, key) SELECT 1, row_number() OVER (ORDER BY _id), encode(_id, 'hex') FROM track
            """)
        let server = try await TestCluster.member(of: "tombolo_admin", configuration)
        try await Self.work(owner, configuration, server, job: 1, name: "new")
        let job = try await owner.query("SELECT state, done::int, refused::int FROM tombolo.job WHERE id = 1")[0]
        #expect(try job[0].string == "done" && job[1].int == Self.rows && job[2].int == 0)

        try await owner.execute(
            """
            UPDATE track SET name = 'mine' WHERE _id = decode(lpad('5', 24, '0'), 'hex');
            INSERT INTO tombolo.job (kind, class, user_id, state, arguments, total, reverts) VALUES
                ('undo', 'Track', '\(user)', 'queued', '{}', \(Self.rows), 1);
            INSERT INTO tombolo.job_row (job, number, key, old, new)
            SELECT 2, row_number() OVER (ORDER BY number DESC), key, old, new FROM tombolo.job_row WHERE job = 1
            """)
        try await Self.work(owner, configuration, server, job: 2, name: "old")
        let undo = try await owner.query("SELECT state, done::int, left_alone::int FROM tombolo.job WHERE id = 2")[0]
        #expect(try undo[0].string == "done" && undo[1].int == Self.rows - 1 && undo[2].int == 1)
        await owner.close()
    }

    /// Starts two servers, kills both whenever a third of the rest is done, and looks at what they left.
    private static func work(
        _ owner: PostgresConnection, _ configuration: PostgresConfiguration, _ user: PostgresConfiguration, job: Int,
        name: String
    ) async throws {
        let keywords = configuration.keywords
        let folder = FileManager.default.temporaryDirectory.appending(path: "killed-job-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let environment = [
            "TOMBOLO_DATABASE_URL":
                "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(user.user ?? "") "
                + "dbname=\(configuration.database ?? "")",
            "TOMBOLO_JWT_SECRET": "the end-to-end tests sign with this key", "TOMBOLO_LOG_LEVEL": "warning",
        ]
        func left() async throws -> Int {
            try await owner.query(
                "SELECT (total - done - refused - left_alone)::int FROM tombolo.job WHERE id = \(job)")[0, 0].int
        }
        var open = rows
        var rounds = 0
        while open > 0 {
            var servers: [ChildProcess] = []
            for place in 0..<2 {
                servers.append(
                    try await ChildProcess(
                        try Programs.admin, ["--port", "0"], environment: environment,
                        messages: folder.appending(path: "messages-\(rounds)-\(place)")))
            }
            let goal = rounds < 3 ? open * 2 / 3 : 0
            while open > goal {
                open = try await left()
                await Task.yield()
            }
            for server in servers { try await server.signal(open > 0 && rounds % 2 == 0 ? SIGKILL : SIGTERM) }
            rounds += 1
            // What the servers were at ends with their connections, committed or not.
            while try await !owner.query(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                    + "AND backend_type = 'client backend'"
            ).isEmpty { await Task.yield() }
            open = try await left()
            let row = try await owner.query(
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
            #expect(done == changes && counted == changes, "written down otherwise than done")
        }
        #expect(rounds > 3)
        try? FileManager.default.removeItem(at: folder)
    }
}
