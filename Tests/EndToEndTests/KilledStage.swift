import ConferenceSetup
import Foundation
import NIOHTTP1
import PostgresClient
import TestSupport
import Testing
import TomboloAuthentication
import TomboloMigration
import TomboloModel
import TomboloServerModel

/// A conference database with a super administrator, and admin servers to kill on it.
struct KilledStage {
    private static let secret = "the end-to-end tests sign with this key"
    static let (email, password) = ("ada@example.org", "correct horse")

    /// The superuser's connection settings.
    let database: PostgresConfiguration
    /// For setting up and checking.
    let owner: PostgresConnection
    /// Open until a test closes it.
    let turnstile: Turnstile
    let user: ObjectId
    private let environment: [String: String]
    private let folder: URL

    /// - Parameter name: the name of the folder for the servers' messages.
    init(_ name: String) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        database = configuration
        owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        turnstile = try await Turnstile(owner)
        let pool = PostgresPool(configuration: configuration, options: .patient(2))
        let models = try await ServerModels.load(pool)
        user = try await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: Self.secret),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants }
        ).register(email: Self.email, password: Self.password, displayName: "Ada")
        await pool.shutdown()
        try await owner.query(
            "INSERT INTO role_assignment (_id, \"user\", role) VALUES (substr(sha256('x'), 1, 12), $1, 'superAdmin')",
            [.bytea(user.bytes)])
        let server = try await TestCluster.member(of: "tombolo_admin", configuration)
        let keywords = configuration.keywords
        folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        environment = [
            "TOMBOLO_DATABASE_URL":
                "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(server.user ?? "") "
                + "dbname=\(configuration.database ?? "")",
            "TOMBOLO_JWT_SECRET": Self.secret, "TOMBOLO_LOG_LEVEL": "warning",
        ]
    }

    /// Returns a server that isn't started yet.
    /// - Parameter more: additional variables, for this server only.
    func server(_ name: String, _ more: [String: String] = [:]) -> Server {
        Server(
            [], kind: .admin, environment: environment.merging(more) { _, new in new },
            messages: folder.appending(path: name))
    }

    /// The super administrator, logged in at a running server.
    func client(of server: Server) async throws -> AdminClient {
        let url = await server.url
        let login = try await AdminClient.send(
            "\(url)/login", #"{"email": "\#(Self.email)", "password": "\#(Self.password)"}"#)
        return AdminClient(url: url, token: try #require(login.text("accessToken"), "\(login.content)"))
    }

    /// Once the servers' connections are gone, their statements have ended, committed or not.
    func untilDisconnected() async throws {
        while try await !owner.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                + "AND backend_type = 'client backend'"
        ).isEmpty { await Task.yield() }
    }

    /// Puts groups into the trash. Each is a track with two sessions, whose deletion passes the turnstile.
    func fillTrash(groups count: Int, daysAgo days: Int) async throws {
        try await owner.execute(
            """
            UPDATE tombolo.class_column SET goes_along = true WHERE name = 'track';
            INSERT INTO track (_id, name)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), n FROM generate_series(1, \(count)) n;
            INSERT INTO session (_id, title, track)
                SELECT decode(lpad(to_hex(n + 16777216), 24, '0'), 'hex'), n,
                    decode(lpad(to_hex(n / 2 + 1), 24, '0'), 'hex')
                FROM generate_series(0, \(2 * count - 1)) n;
            UPDATE track SET trashed_at = now() - make_interval(days => \(days));
            CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN PERFORM public.pass(); RETURN OLD; END$$;
            CREATE TRIGGER slowly BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION public.slowly()
            """)
    }

    /// Lets the last statements of killed servers pass the turnstile and waits until their connections end.
    func untilOrphansEnd() async throws {
        try await turnstile.open()
        try await untilDisconnected()
    }

    // MARK: Jobs

    func left(_ job: Int) async throws -> Int {
        try await owner.query(
            "SELECT (total - done - refused - left_alone)::int FROM tombolo.job WHERE id = \(job)")[0, 0].int
    }

    /// Repeatedly starts two servers and ends both midway through a third of the remaining rows, then checks what they
    /// left. In the last round they finish the job. The job's rows pass the turnstile.
    func work(job: Int, _ check: () async throws -> Void) async throws {
        for round in 0..<4 {
            let open = try await left(job)
            let third = open / 3
            let bound = try await turnstile.admit(third)
            let servers = (0..<2).map { server("round-\(job)-\(round)-\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers { group.addTask { try await server.start() } }
                try await group.waitForAll()
            }
            try await turnstile.untilPassed(bound - Int.random(in: 0...third / 2))
            let isLast = round == 3
            if isLast {
                try await turnstile.open()
                while try await left(job) > 0 { await Task.yield() }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers {
                    group.addTask {
                        if round % 2 == 0 { try await server.kill9() } else { try await server.terminate() }
                    }
                }
                if round % 2 == 0 { try await group.waitForAll() }
                // A server that is asked to end finishes its current batch.
                try await turnstile.open()
                try await group.waitForAll()
            }
            try await untilDisconnected()
            try await check()
        }
        #expect(try await left(job) == 0)
    }

    /// The answer of a server about a job.
    func answer(of job: Int) async throws -> AdminClient.Answer {
        let server = server("answer-\(job)")
        try await server.start()
        let answer = try await client(of: server)(.GET, "/jobs/\(job)")
        try await server.kill9()
        return answer
    }

    func end() async throws {
        await owner.close()
        try await FileManager.default.removeBusyFolder(at: folder)
    }
}
