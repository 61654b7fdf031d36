import AsyncHTTPClient
import ConferenceSetup
import Foundation
import NIOCore
import NIOHTTP1
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloServerModel

@Suite("Admin servers that are killed while they import a file", .serialized, .timeLimit(.minutes(5)))
struct KilledImportTests {
    private static let (oldCount, newCount) = (300, 600)
    private static let password = "correct horse"

    /// A database, its owner's connection, and servers on it.
    private struct Stage {
        let owner: PostgresConnection
        let environment: [String: String]
        let folder: URL

        func server(_ name: String) -> Server {
            Server([], kind: .admin, environment: environment, messages: folder.appending(path: name))
        }

        func left(_ job: Int) async throws -> Int {
            try await owner.query(
                "SELECT (total - done - refused - left_alone)::int FROM tombolo.job WHERE id = \(job)")[0, 0].int
        }
    }

    @Test("lose no row and make none twice, and neither does the undo")
    func killed() async throws {
        let stage = try await Self.stage()
        let first = stage.server("first")
        try await first.start()
        let url = await first.url
        let login = try await Self.post("\(url)/login", #"{"email": "ada@example.org", "password": "correct horse"}"#)
        let call = AdminClient(url: url, token: try #require(login.text("accessToken")))
        let rows =
            (1...Self.oldCount).map { "\(Self.id($0)),u\($0)" } + (1...Self.newCount).map { ",c\($0)" }
        let upload = try await Self.post(
            "\(url)/import/tracks", "id,name\n" + rows.joined(separator: "\n"), type: "text/csv", token: call.token)
        let job = try #require(upload.number("job.id"), "\(String(decoding: upload.body, as: UTF8.self))")
        let preview = try await call(.POST, "/import/tracks/\(job)/preview", #"{"mode": "upsert"}"#)
        #expect(preview.number("creates") == Self.newCount && preview.number("updates") == Self.oldCount)
        let version = try #require(preview.text("version"))
        let started = try await call(
            .POST, "/import/tracks/\(job)/start", #"{"mode": "upsert", "expect": {"version": "\#(version)"}}"#)
        #expect(started.status == 202, "\(String(decoding: started.body, as: UTF8.self))")
        try await first.kill9()
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
        let undo = try await AdminClient(url: await second.url, token: call.token)(.POST, "/jobs/\(job)/undo")
        let undoing = try #require(undo.number("id"), "\(String(decoding: undo.body, as: UTF8.self))")
        try await second.kill9()
        try await Self.work(stage, job: undoing)
        let undone = try await stage.owner.query("SELECT state, done::int FROM tombolo.job WHERE id = \(undoing)")[0]
        #expect(try undone[0].string == "done" && undone[1].int == rows.count)
        let live = try await stage.owner.query(
            "SELECT count(*)::int, count(*) FILTER (WHERE left(name, 1) = 'o')::int FROM track WHERE trashed_at IS NULL"
        )[0]
        #expect(try live[0].int == Self.oldCount && live[1].int == Self.oldCount, "everything is as it was")
        await stage.owner.close()
        try await FileManager.default.removeBusyFolder(at: stage.folder)
    }

    private static func id(_ number: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 24 - text.count) + text
    }

    private static func stage() async throws -> Stage {
        let configuration = try await TestCluster.shared().createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        let pool = PostgresPool(configuration: configuration, options: .init(maximumConnections: 2))
        let models = try await ServerModels.load(pool)
        let secret = "the end-to-end tests sign with this key"
        let user = try await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: secret),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants }
        ).register(email: "ada@example.org", password: password, displayName: "Ada")
        await pool.shutdown()
        try await owner.query(
            "INSERT INTO role_assignment (_id, \"user\", role) VALUES (substr(sha256('x'), 1, 12), $1, 'superAdmin')",
            [.bytea(user.bytes)])
        // Every change of a row is counted in its transaction, and takes a moment.
        try await owner.execute(
            """
            INSERT INTO track (_id, name)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), 'o' || n FROM generate_series(1, \(oldCount)) n;
            CREATE TABLE public.seen (what text, key bytea);
            GRANT ALL ON public.seen TO PUBLIC;
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN
                PERFORM pg_sleep(0.002);
                INSERT INTO public.seen VALUES
                    (TG_OP || left(NEW.name, 1) || (NEW.trashed_at IS NOT NULL)::text, NEW._id);
                RETURN NEW;
            END$$;
            CREATE TRIGGER slowly BEFORE INSERT OR UPDATE ON track FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
        let server = try await TestCluster.member(of: "tombolo_admin", configuration)
        let keywords = configuration.keywords
        let folder = FileManager.default.temporaryDirectory.appending(path: "killed-import-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return Stage(
            owner: owner,
            environment: [
                "TOMBOLO_DATABASE_URL":
                    "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(server.user ?? "") "
                    + "dbname=\(configuration.database ?? "")",
                "TOMBOLO_JWT_SECRET": secret, "TOMBOLO_LOG_LEVEL": "warning",
            ], folder: folder)
    }

    /// Starts two servers, kills both whenever a third of the rest is done, and looks at what they left.
    private static func work(_ stage: Stage, job: Int) async throws {
        var rounds = 0
        var open = try await stage.left(job)
        while open > 0 {
            let servers = (0..<2).map { stage.server("round-\(job)-\(rounds)-\($0)") }
            for server in servers { try await server.start() }
            let goal = rounds < 3 ? open * 2 / 3 : 0
            while open > goal {
                open = try await stage.left(job)
                await Task.yield()
            }
            for server in servers {
                if open > 0, rounds % 2 == 0 { try await server.kill9() } else { try await server.terminate() }
            }
            rounds += 1
            // What the servers were at ends with their connections, committed or not.
            while try await !stage.owner.query(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                    + "AND backend_type = 'client backend'"
            ).isEmpty { await Task.yield() }
            open = try await stage.left(job)
            let row = try await stage.owner.query(
                """
                SELECT (SELECT count(*) FROM seen)::int, (SELECT count(DISTINCT (what, key)) FROM seen)::int,
                    (SELECT count(*) FROM tombolo.job_row WHERE outcome = 'd')::int,
                    (SELECT sum(done) FROM tombolo.job)::int
                """)[0]
            let (changes, changed, done, counted) = (
                try row[0].int, try row[1].int, try row[2].int, try row[3].int
            )
            #expect(changes == changed, "a row was made or changed twice")
            #expect(done == changes && counted == changes, "written down otherwise than done")
        }
        #expect(rounds > 2)
    }

    private static func post(
        _ url: String, _ body: String, type: String = "application/json", token: String? = nil
    ) async throws -> AdminClient.Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: type)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        request.body = .bytes(ByteBuffer(string: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let content = try await response.body.collect(upTo: 1 << 20)
        return AdminClient.Answer(
            status: Int(response.status.code), tag: nil, body: Data(content.readableBytesView))
    }
}
