import Foundation
public import HTTPTypes
import Hummingbird
public import HummingbirdTesting
import NIOCore
public import PostgresClient
import TestSupport
public import TomboloAuthentication
public import TomboloHTTP
import TomboloMigration
public import TomboloModel
import TomboloRuleDocuments
public import TomboloRules
public import TomboloServerModel

/// A database of its own with ``Ship`` and ``Sailor``, and the users `ada` and `guest`.
public struct HarbourFixture: Sendable {
    public let pool: PostgresPool
    public let models: ServerModels
    public let authenticator: Authenticator
    public let rules: Rules
    public let users: [String: ObjectId]

    private static let open =
        "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true, "
        + "operations: {trash: true, listTrash: true, restore: true}}\n"

    /// - Parameters:
    ///   - rules: makes the rules from the users' ids; nil permits everything to everybody.
    ///   - models: the database's model document; nil for the one of the Swift classes.
    public static func with(
        models: ModelDocument? = nil, rules: (@Sendable (_ users: [String: ObjectId]) -> String)? = nil,
        _ body: @Sendable (HarbourFixture) async throws -> Void
    ) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let owner = try await PostgresConnection.connect(configuration)
        let document = try models ?? ModelDocument(app: "harbour", objectTypes: [Ship.self, Sailor.self])
        try await Migrator.toDocuments([AppDocuments(models: document, rules: open)], on: owner).apply()
        await owner.close()
        let pool = PostgresPool(configuration: configuration, options: .patient(4))
        do {
            let fixture = try await HarbourFixture(pool, rules)
            try await withPatience { try await body(fixture) }
            await pool.shutdown()
        } catch {
            await pool.shutdown()
            throw error
        }
    }

    private init(_ pool: PostgresPool, _ document: (([String: ObjectId]) -> String)?) async throws {
        self.pool = pool
        let models = try await ServerModels.load(pool)
        self.models = models
        authenticator = await Authenticator(
            pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants })
        var users: [String: ObjectId] = [:]
        for name in ["ada", "guest"] {
            users[name] = try await authenticator.register(
                email: ServiceFixture.email(name), password: ServiceFixture.password, displayName: name)
        }
        self.users = users
        rules =
            try document.map {
                try Rules(schema: models.rules.schema, book: try RuleBook(parsing: $0(users), file: "test.yaml"))
            } ?? models.rules
    }

    /// Sends a request with JSON.
    public func call(
        _ client: any TestClientProtocol, _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil,
        as user: String = "ada", type: String = "application/vnd.api+json", headers others: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = others
        let login = try await authenticator.login(
            email: ServiceFixture.email(user), password: ServiceFixture.password)
        headers[.authorization] = "Bearer \(login.token)"
        if body != nil { headers[.contentType] = type }
        let sent = body.map { body in
            var bytes = JSONBytes()
            body.append(to: &bytes)
            return ByteBuffer(bytes: bytes.bytes)
        }
        let response = try await client.execute(uri: path, method: method, headers: headers, body: sent)
        return Answer(status: response.status.code, text: String(buffer: response.body), headers: response.headers)
    }

    /// Creates a ship through JSON:API.
    /// - Returns: its id.
    public func ship(
        _ client: any TestClientProtocol, _ attributes: [String: JSON], crew: [ObjectId] = []
    ) async throws -> String {
        var all: [String: JSON] = ["name": "Gorch", "kind": "freighter", "seal": "AAEC"]
        all.merge(attributes) { $1 }
        let linked = crew.map { JSON.object(["type": "sailors", "id": .string($0.stringValue)]) }
        let made = try await call(
            client, .post, "/api/ships",
            [
                "data": [
                    "type": "ships", "attributes": .object(all), "relationships": ["crew": ["data": .array(linked)]],
                ]
            ])
        guard let id = made.json["data"]?["id"]?.text else { throw Refused(answer: made) }
        return id
    }

    public func sailor(_ name: String) async throws -> ObjectId {
        let id = ObjectId.generate()
        try await pool.query("INSERT INTO sailor (_id, name) VALUES ($1, $2)", [.bytea(id.bytes), .text(name)])
        return id
    }

    public struct Refused: Error {
        public let answer: Answer
    }
}
