import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import RandomValues
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

/// How decorators compose, without a database.
@Suite struct DecoratorTests {
    private static let decision = HTTPField.Name("Tombolo-Decision")

    /// An application whose access tokens name the roles that the user has everywhere.
    private static func application(
        showsDecisions: Bool = false, _ register: @escaping (Routes) -> Void
    ) -> HTTPApplication {
        HTTPApplication(
            name: "test", host: "127.0.0.1", port: 0, limits: .patient, logger: LogRecorder().logger,
            identify: { token in
                let roles = token.split(separator: "+").map { RoleGrant(Role(String($0))) }
                return Subject(user: ObjectId(), grants: Set(roles))
            }, showsDecisions: showsDecisions, register: register)
    }

    private static func role(_ name: String) -> RouteAccess<Subject> { .role(Role(name)) }

    /// A decorator with a fixed answer.
    private static func answers(_ code: RequestFailure.Code?, _ text: String) -> RouteAccess<Subject> {
        RouteAccess(
            summary: text, forecast: { _ in code == nil ? .allowed : .refused },
            decide: { subject, _, _ in
                if let code { throw RequestFailure(code, text) }
                return subject
            })
    }

    private struct Outcome: Hashable {
        let status: Int
        let text: String
        let decision: String?
    }

    private static func outcome(_ access: RouteAccess<Subject>, token: String? = "x") async throws -> Outcome {
        let app = application(showsDecisions: true) { $0.on(.get, "/here", access: access) { _, _, _ in "in" } }
        return try await app.test(.router) { client in
            var headers: HTTPFields = [:]
            headers[.authorization] = token.map { "Bearer \($0)" }
            let response = try await client.execute(uri: "/here", method: .get, headers: headers)
            return Outcome(
                status: response.status.code, text: String(buffer: response.body),
                decision: decision.flatMap { response.headers[$0] })
        }
    }

    @Test("stacked decorators all apply, in whichever order they are stacked")
    func stacked() async throws {
        for token in ["a", "b", "a+b", "c", "a+b+c"] {
            let isAllowed = token.contains("a") && token.contains("b")
            for access in [Self.role("a").and(Self.role("b")), Self.role("b").and(Self.role("a"))] {
                let found = try await Self.outcome(access, token: token)
                #expect(found.status == (isAllowed ? 200 : 403), "\(token)")
            }
            let three = Self.role("a").and(Self.role("b")).and(Self.role("c"))
            #expect(try await Self.outcome(three, token: token).status == (token == "a+b+c" ? 200 : 403))
        }
    }

    @Test("the order of decorators affects neither status, text nor reason, whatever they answer")
    func order() async throws {
        let codes: [RequestFailure.Code?] = [
            nil, .unauthenticated, .forbidden, .notFound, .badRequest, .unavailable, .internalError,
        ]
        var random = RandomValues(.printed(for: "DecoratorTests.order"))
        for _ in 0..<40 {
            let parts = (0..<3).map { Self.answers(random.pick(codes), "part \($0)") }
            var found: Set<Outcome> = []
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let access = parts[order[0]].and(parts[order[1]]).and(parts[order[2]])
                found.insert(try await Self.outcome(access))
            }
            #expect(found.count == 1, "\(found)")
            var either: Set<Int> = []
            for order in [[0, 1, 2], [1, 2, 0], [2, 1, 0]] {
                let access = parts[order[0]].or(parts[order[1]]).or(parts[order[2]])
                either.insert(try await Self.outcome(access).status)
            }
            #expect(either.count == 1, "\(either)")
        }
    }

    @Test("a missing login is reported before a missing role, and both before anything about the requested object")
    func ranks() async throws {
        for (one, another, status) in [
            (RequestFailure.Code.notFound, RequestFailure.Code.forbidden, 403),
            (.forbidden, .unauthenticated, 401), (.badRequest, .forbidden, 403), (.unavailable, .forbidden, 403),
        ] {
            let access = Self.answers(one, "one").and(Self.answers(another, "another"))
            #expect(try await Self.outcome(access).status == status)
        }
        // A decision that couldn't be made might have admitted the caller.
        let either = Self.answers(.unavailable, "one").or(Self.answers(.forbidden, "another"))
        #expect(try await Self.outcome(either).status == 503)
    }

    @Test("'or' admits a caller who satisfies either decorator")
    func either() async throws {
        let access = Self.role("a").or(Self.role("b")).and(Self.role("c"))
        for (token, status) in [("a", 403), ("a+c", 200), ("b+c", 200), ("c", 403), ("a+b+c", 200)] {
            #expect(try await Self.outcome(access, token: token).status == status, "\(token)")
        }
        #expect(try await Self.outcome(access, token: nil).status == 401)
    }

    @Test("in development mode a header says what decided; otherwise there is none")
    func header() async throws {
        let allowed = try await Self.outcome(Self.role("b").and(Self.role("a")), token: "a+b")
        #expect(allowed.decision == "allowed: a and b")
        let refused = try await Self.outcome(Self.role("a"), token: "b")
        #expect(refused.decision == "refused: Not permitted: this requires the role a.")
        let quiet = Self.application { $0.on(.get, "/here", access: Self.role("a")) { _, _, _ in "in" } }
        try await quiet.test(.router) { client in
            for token in ["a", "b"] {
                let response = try await client.execute(
                    uri: "/here", method: .get, headers: [.authorization: "Bearer \(token)"])
                #expect(Self.decision.flatMap { response.headers[$0] } == nil)
            }
        }
    }

    @Test("a role granted within one object doesn't apply everywhere")
    func scopes() async throws {
        let app = HTTPApplication(
            name: "test", host: "127.0.0.1", port: 0, limits: .patient, logger: LogRecorder().logger,
            identify: { _ in Subject(user: ObjectId(), grants: [RoleGrant(Role("a"), in: ObjectId())]) }
        ) { $0.on(.get, "/here", access: Self.role("a")) { _, _, _ in "in" } }
        try await app.test(.router) { client in
            let response = try await client.execute(
                uri: "/here", method: .get, headers: [.authorization: "Bearer x"])
            #expect(response.status == .forbidden)
        }
    }

    @Test("a server doesn't start if a route's decorator needs a parameter that its path lacks")
    func missingParameter() async throws {
        let rules = LiveRules(try Rules(schema: Schema([]), book: .empty))
        let pool = PostgresPool(configuration: PostgresConfiguration())
        let scope = RouteScope.object("Team", id: "team", by: rules, from: pool)
        let app = Self.application {
            $0.on(.get, "/listings/{id}", access: .role(Role("lead"), in: scope)) { _, _, _ in "in" }
        }
        await #expect {
            try await app.run()
        } throws: { error in
            "\(error)" == "test doesn't start:\n- GET /listings/{id} (lead in the Team) decides by {team}, which its "
                + "address doesn't have."
        }
        await pool.shutdown()
    }
}
