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

/// A conference's database with a super administrator, and admin servers that get killed on it.
struct KilledStage {
    private static let secret = "the end-to-end tests sign with this key"
    static let (email, password) = ("ada@example.org", "correct horse")

    /// The superuser's.
    let database: PostgresConfiguration
    /// For preparing and looking.
    let owner: PostgresConnection
    let user: ObjectId
    private let environment: [String: String]
    private let folder: URL

    /// - Parameter name: of the folder of the servers' messages.
    init(_ name: String) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        database = configuration
        owner = try await PostgresConnection.connect(configuration)
        try await Conference.migrator(owner).apply()
        let pool = PostgresPool(configuration: configuration, options: .init(maximumConnections: 2))
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

    /// Not started.
    /// - Parameter more: variables that the others lack.
    func server(_ name: String, _ more: [String: String] = [:]) -> Server {
        Server(
            [], kind: .admin, environment: environment.merging(more) { _, new in new },
            messages: folder.appending(path: name))
    }

    /// The super administrator, logged in to a server that runs.
    func client(of server: Server) async throws -> AdminClient {
        let url = await server.url
        let login = try await AdminClient.send(
            "\(url)/login", #"{"email": "\#(Self.email)", "password": "\#(Self.password)"}"#)
        return AdminClient(url: url, token: try #require(login.text("accessToken"), "\(login.content)"))
    }

    /// What servers were at ends with their connections, committed or not.
    func untilDisconnected() async throws {
        while try await !owner.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
                + "AND backend_type = 'client backend'"
        ).isEmpty { await Task.yield() }
    }

    // MARK: Jobs

    func left(_ job: Int) async throws -> Int {
        try await owner.query(
            "SELECT (total - done - refused - left_alone)::int FROM tombolo.job WHERE id = \(job)")[0, 0].int
    }

    /// Starts two servers, kills both whenever a third of the rest is done, and looks at what they left, until nothing is.
    func work(job: Int, _ check: () async throws -> Void) async throws {
        var rounds = 0
        var open = try await left(job)
        while open > 0 {
            let servers = (0..<2).map { server("round-\(job)-\(rounds)-\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers { group.addTask { try await server.start() } }
                try await group.waitForAll()
            }
            let goal = rounds < 3 ? open * 2 / 3 : 0
            while open > goal {
                open = try await left(job)
                await Task.yield()
            }
            for server in servers {
                if open > 0, rounds % 2 == 0 { try await server.kill9() } else { try await server.terminate() }
            }
            rounds += 1
            try await untilDisconnected()
            open = try await left(job)
            try await check()
        }
        #expect(rounds > 1)
    }

    /// What a server says of a job.
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
