import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import ServiceTestSupport
import TestSupport
import TomboloAuthentication
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel

@testable import AdminService

/// The admin server of an app defined by a test, with its own database and one logged-in user.
struct AppSite: Sendable {
    let client: any TestClientProtocol
    let pool: PostgresPool
    let schema: Schema
    let token: String
    /// Works on jobs only when told to.
    let service: JobService

    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, type: String = "application/json"
    ) async throws -> Answer {
        var headers: HTTPFields = [.authorization: "Bearer \(token)"]
        if body != nil { headers[.contentType] = type }
        let response = try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        return Answer(status: response.status.code, text: String(buffer: response.body), headers: response.headers)
    }

    static func run(
        _ documents: AppDocuments, _ body: @escaping @Sendable (AppSite) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        try await Migrator.toDocuments([documents], on: owner).apply()
        await owner.close()
        let pool = PostgresPool(configuration: configuration, options: .patient(4))
        let models = try await ServerModels.load(pool)
        let authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants })
        _ = try await authenticator.register(email: "ada@example.org", password: "correct horse", displayName: "Ada")
        let token = try await authenticator.login(email: "ada@example.org", password: "correct horse").token
        let rules = LiveRules(models.rules)
        let app = buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: pool, rules: rules, authenticator: authenticator)
        let service = JobService(rules: rules, pool: pool, authenticator: authenticator, logger: Logger(label: "jobs"))
        try await withPatience {
            try await app.test(.router) {
                try await body(
                    AppSite(client: $0, pool: pool, schema: models.rules.schema, token: token, service: service))
            }
        }
        await pool.shutdown()
    }
}
