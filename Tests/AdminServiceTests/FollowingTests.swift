import AdminService
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloPostgresStore
import TomboloServerModel

/// An admin server that keeps running while the model changes.
@Suite(.serialized, .timeLimit(.minutes(15))) struct FollowingTests {
    private static let house = ObjectId()
    private static let agent = ObjectId()

    private static func document(_ home: String, text: String, hasAgents: Bool) throws -> ModelDocument {
        let isRenamed = home != "Listing"
        let key = ModelProperty(name: "_id", column: isRenamed ? "key" : nil, type: .objectId, isPrimaryKey: true)
        var classes = [
            ModelClass(
                name: home, table: Column.sqlName(for: home),
                properties: [
                    key, ModelProperty(name: text, type: .string, previousNames: isRenamed ? ["title"] : []),
                ], isTrashable: true, previousNames: isRenamed ? ["Listing"] : [])
        ]
        if hasAgents {
            classes.append(
                ModelClass(
                    name: "Agent", table: "agent",
                    properties: [
                        ModelProperty(name: "_id", type: .objectId, isPrimaryKey: true),
                        ModelProperty(name: "home", type: .link(to: home), isOptional: true),
                    ], isTrashable: true))
        }
        return try ModelDocument(app: "homes", classes: classes)
    }

    private static func rules(_ classes: [String]) -> String {
        "version: 1\nrules:\n"
            + classes.map {
                "  \($0):\n    - { name: all, applyWhen: {}, read: true, write: true, "
                    + "operations: { trash: true, listTrash: true, restore: true } }\n"
            }.joined()
    }

    private struct Site: Sendable {
        let configuration: PostgresConfiguration
        let pool: PostgresPool
        let client: any TestClientProtocol
        let authorization: String
        let sequencer: Sequencer

        func apply(_ document: ModelDocument, rules: String? = nil) async throws {
            let connection = try await PostgresConnection.connect(configuration)
            let rules = rules ?? FollowingTests.rules(document.classes.map(\.name))
            try await Migrator.toDocuments([AppDocuments(models: document, rules: rules)], on: connection).apply()
            await connection.close()
        }

        func call(_ method: HTTPRequest.Method, _ path: String) async throws -> (status: Int, text: String) {
            let response = try await client.execute(
                uri: path, method: method, headers: [.authorization: authorization])
            return (response.status.code, String(buffer: response.body))
        }

        /// Repeats the call until the server knows the model that it needs.
        func callUntilFound(_ method: HTTPRequest.Method, _ path: String) async throws -> (status: Int, text: String) {
            while true {
                // If this tick fails, the next round makes another.
                _ = try? await sequencer.makeTick()
                let answer = try await call(method, path)
                guard [400, 404, 503].contains(answer.status) else { return answer }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    private func withSite(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: configuration, options: .patient(6))
        let connection = try await PostgresConnection.connect(configuration)
        let first = try Self.document("Listing", text: "title", hasAgents: false)
        try await Migrator.toDocuments(
            [AppDocuments(models: first, rules: Self.rules(["Listing"]))], on: connection
        ).apply()
        await connection.close()
        let user = try await TestCluster.member(of: "tombolo_admin", configuration)
        let serverPool = PostgresPool(configuration: user, options: .patient(6))
        let models = try await DatabaseRole.admin.loadModels(serverPool, logger: Logger(label: "following"))
        let authenticator = await Authenticator(
            pool: serverPool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
            hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants })
        try await AccountRegistry(pool: pool, hasher: PasswordHasher(parameters: .weakForTests)).register(
            email: "ann@example.org", password: "correct horse", displayName: "Ann")
        let token = try await authenticator.login(email: "ann@example.org", password: "correct horse").token
        let app = buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: serverPool, rules: models.liveRules(), authenticator: authenticator)
        let sequencer = Sequencer(configuration: configuration, logger: Logger(label: "following"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await ModelFollower(
                    models, configuration: user, logger: Logger(label: "following")
                ).run()
            }
            try await withPatience {
                try await app.test(.router) {
                    try await body(
                        Site(
                            configuration: configuration, pool: pool, client: $0, authorization: "Bearer \(token)",
                            sequencer: sequencer))
                }
            }
            group.cancelAll()
        }
        await sequencer.resign()
        await serverPool.shutdown()
        await pool.shutdown()
    }

    @Test("A running admin server serves routes for classes that an app adds or renames")
    func classes() async throws {
        try await withSite { site in
            let (house, agent) = (Self.house.stringValue, Self.agent.stringValue)
            try await site.pool.execute(
                "INSERT INTO listing (_id, title) VALUES (decode('\(house)', 'hex'), 'By the lake')")
            #expect(try await site.call(.post, "/admin/agents/\(agent)/trash").status == 404)

            try await site.apply(try Self.document("Listing", text: "title", hasAgents: true))
            try await site.pool.execute(
                "INSERT INTO agent (_id, home) VALUES (decode('\(agent)', 'hex'), decode('\(house)', 'hex'))")
            let added = try await site.callUntilFound(.post, "/admin/agents/\(agent)/trash")
            #expect(added.status == 200, "\(added.text)")
            #expect(try await site.call(.post, "/admin/listings/\(house)/trash").status == 200)
            let linked = try await site.call(.get, "/admin/trash?home=\(house)")
            #expect(linked.text.contains("Agent") && linked.text.contains("Listing"), "\(linked.text)")
            let titled = try await site.call(.get, "/admin/trash?title=By%20the%20lake")
            #expect(!titled.text.contains("Agent") && titled.text.contains("Listing"), "\(titled.text)")
            #expect(try await site.call(.get, "/admin/trash?home=x").status == 400)

            try await site.apply(try Self.document("House", text: "headline", hasAgents: true))
            let renamed = try await site.callUntilFound(.get, "/admin/trash?class=House")
            #expect(renamed.status == 200 && renamed.text.contains("headline"), "\(renamed.text)")
            #expect(try await site.call(.get, "/admin/trash?class=Listing").status == 200, "Its former name")
            let restored = try await site.call(.post, "/admin/trash/\(house)/restore")
            #expect(restored.status == 200, "\(restored.text)")
            let erased = try await site.call(.delete, "/houses/\(house)")
            #expect(erased.status == 200, "\(erased.text)")
            #expect(try await site.call(.post, "/admin/trash/\(house)/restore").status == 200)
            #expect(try await site.call(.post, "/admin/listings/\(house)/trash").status == 200)
        }
    }

    @Test("Rules are followed even without a gateway to announce them")
    func withoutGateway() async throws {
        try await withSite { site in
            let house = Self.house.stringValue
            try await site.pool.execute("INSERT INTO listing (_id) VALUES (decode('\(house)', 'hex'))")
            let document = try Self.document("Listing", text: "title", hasAgents: false)
            try await site.apply(document, rules: "rules: {Listing: [{name: all, applyWhen: {}, read: true}]}")
            var status = 200
            while status == 200 {
                status = try await site.call(.post, "/admin/listings/\(house)/trash").status
                if status == 200 { _ = try await site.call(.post, "/admin/trash/\(house)/restore") }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(status == 403)
        }
    }

    @Test("The trash shows no property that the rules hide from its reader, and can't be searched by one")
    func hiddenProperties() async throws {
        try await withSite { site in
            let house = Self.house.stringValue
            try await site.pool.execute(
                "INSERT INTO listing (_id, title) VALUES (decode('\(house)', 'hex'), 'By the lake')")
            #expect(try await site.call(.post, "/admin/listings/\(house)/trash").status == 200)
            #expect(try await site.call(.get, "/admin/trash").text.contains("By the lake"))
            let rules = """
                rules:
                  Listing:
                    - name: all
                      applyWhen: {}
                      read: true
                      fields: {title: {read: false}}
                      operations: {trash: true, listTrash: true, restore: true}
                """
            try await site.apply(try Self.document("Listing", text: "title", hasAgents: false), rules: rules)
            var list = try await site.call(.get, "/admin/trash")
            while list.text.contains("By the lake") {
                try await Task.sleep(for: .milliseconds(50))
                list = try await site.call(.get, "/admin/trash")
            }
            #expect(list.status == 200 && list.text.contains(house), "\(list.text)")
            let found = try await site.call(.get, "/admin/trash?title=By%20the%20lake")
            #expect(found.status == 400 || !found.text.contains(house), "\(found.text)")
        }
    }
}
