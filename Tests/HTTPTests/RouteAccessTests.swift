import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite struct RouteAccessTests {
    private static func rules() throws -> Rules {
        let note = ClassSchema(
            name: "Note",
            columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "isOpen", type: .bool)])
        let secret = ClassSchema(
            name: "Secret", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)])
        let book = try RuleBook(
            parsing: """
                Note:
                  - {name: user, applyWhen: {}, read: true, write: true, insert: false, delete: false}
                  - {name: visitor, applyWhen: {}, anonymous: true, read: {isOpen: true}}
                Secret: [{name: keeper, applyWhen: {"%%user.roles": keeper}, read: true}]
                """, file: "notes.yaml")
        return try Rules(schema: Schema([note, secret]), book: book)
    }

    private static func sample() throws -> HTTPApplication {
        let rules = LiveRules(try rules())
        return application {
            $0.on(.get, "/notes", access: .objects(.read, of: "Note", by: rules)) { _, _, grant in
                "\(grant.filter == .constant(true))"
            }
            $0.on(.put, "/notes", access: .objects(.update, of: "Note", by: rules)) { _, _, _ in "written" }
            $0.on(.get, "/secrets", access: .objects(.read, of: "Secret", by: rules)) { _, _, _ in "secret" }
        }
    }

    @Test("A route is open only if the rules let an anonymous user do the same")
    func openRoutes() throws {
        let routes = try Self.sample().routes
        #expect(routes.filter(\.isOpen).map(\.description) == ["GET /notes (read Note)"])
    }

    @Test(
        "Routes answer 401 without a valid token and 403 without the role",
        arguments: [
            ("/notes", "GET", nil, 200), ("/notes", "GET", "Bearer good", 200), ("/notes", "GET", "Bearer bad", 401),
            ("/notes", "PUT", nil, 401), ("/notes", "PUT", "Bearer good", 200), ("/notes", "PUT", "bearer good", 200),
            ("/notes", "PUT", "Bearer", 401), ("/notes", "PUT", "Basic Zm9vOmJhcg==", 401),
            ("/notes", "PUT", "Bearer good good", 401), ("/notes", "PUT", "", 401), ("/secrets", "GET", nil, 401),
            ("/secrets", "GET", "Bearer good", 403),
            ("/secrets?access_token=good", "GET", nil, 401),
        ])
    func access(path: String, method: String, header: String?, status: Int) async throws {
        try await Self.sample().test(.router) { client in
            var headers: HTTPFields = [:]
            headers[.authorization] = header
            let response = try await client.execute(
                uri: path, method: try #require(HTTPRequest.Method(method)), headers: headers)
            #expect(response.status.code == status)
            if status == 401 { #expect(response.headers[.wwwAuthenticate] != nil) }
            if status == 403 { #expect(response.json["message"] != nil) }
        }
    }

    @Test("An overlong token is refused without being parsed")
    func longToken() async throws {
        try await Self.sample().test(.router) { client in
            let response = try await client.execute(
                uri: "/notes", method: .put,
                headers: [.authorization: "Bearer \(String(repeating: "a", count: 10_000))"])
            #expect(response.status == .unauthorized)
        }
    }
}
