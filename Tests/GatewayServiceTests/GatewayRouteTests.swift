import GatewayService
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
import TomboloMetrics
import TomboloMigration
import TomboloModel
import TomboloServerModel

/// Walks every route that a gateway process's routers have, so a new route is tested without being named here. What
/// the WebSocket behind `/sync` lets a device do is up to its session: see `AdmissionTests`.
@Suite(.timeLimit(.minutes(15))) struct GatewayRouteTests {
    /// The routes that answer anybody. A route that isn't listed here must ask for a token.
    private static let publicRoutes: Set<String> = [
        // Monitors and load balancers have no account. They say only whether the process and its database answer.
        "GET /health", "GET /ready",
        // On a port of its own in the operator's network, and only if configured. It says nothing about users.
        "GET /metrics",
        // Only says how devices connect.
        "GET /sync",
        // Where tokens come from. It asks for credentials.
        "POST /login",
        // Registration, if a provider permits it. The others ask for a token that was mailed, or mail one.
        "POST /register", "POST /confirm", "POST /confirm/send", "POST /reset", "POST /reset/send",
    ]

    /// Routes that ask for a refresh token instead of an access token.
    private static let sessionRoutes: Set<String> = ["POST /session", "DELETE /session"]

    private static func name(_ route: RouteDescription) -> String { "\(route.method) \(route.path)" }

    /// The address of a route with `value` for each parameter.
    private static func address(_ route: RouteDescription, _ value: String) -> String {
        route.path.replacing(/\{[^}]*\}/, with: value)
    }

    /// A gateway on the conference's database, under the gateway's own database role.
    private struct Place: Sendable {
        let fixture: ServiceFixture
        let authenticator: Authenticator
        let gateway: GatewayApplication
        let metrics: HTTPApplication

        static func with(_ body: @Sendable (Place) async throws -> Void) async throws {
            try await ServiceFixture.with { fixture in
                var logger = Logger(label: "gateway-routes")
                logger.logLevel = .critical
                try await ProviderRegistry(pool: fixture.pool).setEnabled(true, Provider.apiKey)
                let user = try await TestCluster.member(of: "tombolo_gateway", fixture.pool.configuration)
                let pool = PostgresPool(configuration: user, options: .patient(4), logger: logger)
                do {
                    let models = try await DatabaseRole.gateway.loadModels(pool, logger: logger)
                    let authenticator = await Authenticator(
                        pool: pool, tokens: try TokenConfiguration(secret: String(repeating: "s", count: 32)),
                        hasher: PasswordHasher(parameters: .weakForTests), grants: { models.grants })
                    let registry = MetricRegistry()
                    let services = try await buildGatewayServices(
                        host: "127.0.0.1", port: 0, pool: pool, models: models, authenticator: authenticator,
                        metrics: registry, logger: logger)
                    let gateways = services.compactMap { $0 as? GatewayApplication }
                    try #require(gateways.count == 1)
                    try await body(
                        Place(
                            fixture: fixture, authenticator: authenticator, gateway: gateways[0],
                            metrics: buildMetricsApplication(
                                MetricsConfiguration(port: 0), registry: registry, logger: logger)))
                } catch {
                    await pool.shutdown()
                    throw error
                }
                await pool.shutdown()
            }
        }

        func login(_ email: String) async throws -> Login {
            try await authenticator.login(email: email, password: ServiceFixture.password)
        }

        /// A user who has just registered.
        func stranger(_ name: String) async throws -> Login {
            let email = "\(name)@example.org"
            _ = try await authenticator.register(email: email, password: ServiceFixture.password, displayName: name)
            return try await login(email)
        }
    }

    private static func status(
        _ client: any TestClientProtocol, _ method: String, _ path: String, token: String?
    ) async throws -> (code: Int, text: String) {
        var headers: HTTPFields = [:]
        if let token { headers[.authorization] = "Bearer \(token)" }
        let response = try await client.execute(
            uri: path, method: try #require(HTTPRequest.Method(method)), headers: headers)
        return (response.status.code, String(buffer: response.body))
    }

    @Test("without a token, and with a wrong one, every route that isn't listed as public answers 401")
    func tokensAreNeeded() async throws {
        try await Place.with { place in
            let login = try await place.login(ServiceFixture.email("admin"))
            let ended = try await place.login(ServiceFixture.email("admin"))
            try await place.authenticator.logOut(ended.refreshToken)
            let disabled = try await place.stranger("disabled")
            let accounts = AccountRegistry(pool: place.fixture.pool)
            _ = try await accounts.setEnabled(false, email: "disabled@example.org")
            place.authenticator.forgetRoles()
            let wrong = [
                nil, "nonsense", "a.b.c", login.token + "x", String(login.token.dropLast(3)), ended.token,
                disabled.token,
            ]
            let values = [
                place.fixture.event.stringValue, login.sessionID.stringValue, ObjectId.generate().stringValue, "1",
            ]

            @Sendable func walk(_ routes: [RouteDescription], _ client: any TestClientProtocol) async throws {
                for route in routes {
                    let name = Self.name(route)
                    let (isPublic, isSession) = (
                        Self.publicRoutes.contains(name), Self.sessionRoutes.contains(name)
                    )
                    #expect(route.isOpen == (isPublic || isSession), "\(route)")
                    // The other kind of token is wrong too.
                    let tokens = wrong + [isSession ? login.token : login.refreshToken]
                    for value in route.path.contains("{") ? values : [""] {
                        let path = Self.address(route, value)
                        for token in tokens {
                            let answer = try await Self.status(client, route.method, path, token: token)
                            #expect((answer.code == 401) == !isPublic, "\(route) \(value): \(answer)")
                        }
                        // The router answers HEAD for every GET.
                        if route.method == "GET" {
                            let answer = try await Self.status(client, "HEAD", path, token: nil)
                            #expect((answer.code == 401) == !isPublic, "HEAD \(route): \(answer)")
                        }
                    }
                }
            }
            try await place.gateway.test(.router) { try await walk(place.gateway.routes, $0) }
            try await place.metrics.test(.router) { try await walk(place.metrics.routes, $0) }

            // Both lists name only existing routes, and the refused tokens are valid where they belong.
            let known = Set((place.gateway.routes + place.metrics.routes).map(Self.name))
            #expect(known.isSuperset(of: Self.publicRoutes.union(Self.sessionRoutes)))
            #expect(known.count > Self.publicRoutes.count + Self.sessionRoutes.count + 10)
            _ = try await place.authenticator.verify(login.token)
            _ = try await place.authenticator.refresh(login.refreshToken)
        }
    }

    @Test("a user's token can't read or change what belongs to somebody else, nor inspect sessions")
    func othersAreKeptOut() async throws {
        try await Place.with { place in
            let email = ServiceFixture.email("owner")
            let owner = try await place.login(email)
            let key = try await place.authenticator.makeAPIKey(named: "the owner's key", for: owner.userID).key
            let secrets = [
                email, owner.userID.stringValue, owner.sessionID.stringValue, owner.deviceID.stringValue,
                key.id.stringValue, "the owner's key",
            ]
            let closed = place.gateway.routes.filter { !$0.isOpen }
            try await place.gateway.test(.router) { client in
                for (index, route) in closed.enumerated() {
                    // Use a new user each time, because a route may end the caller's logins or account.
                    let stranger = try await place.stranger("stranger\(index)")
                    let isOwn = route.access.hasPrefix("own ")
                    guard route.path.contains("{") else {
                        let answer = try await Self.status(client, route.method, route.path, token: stranger.token)
                        #expect(isOwn ? answer.code != 401 : answer.code == 403, "\(route): \(answer)")
                        for secret in secrets { #expect(!answer.text.contains(secret), "\(route): \(answer)") }
                        continue
                    }
                    for value in [owner.sessionID, key.id, owner.userID, owner.deviceID].map(\.stringValue) + ["1"] {
                        let path = Self.address(route, value)
                        let answer = try await Self.status(client, route.method, path, token: stranger.token)
                        // Another user's ids get the same answers as ids that don't exist.
                        let refusals = isOwn ? (value == "1" ? [400, 404] : [404]) : [403]
                        #expect(refusals.contains(answer.code), "\(route) \(value): \(answer)")
                    }
                }
            }
            // Everything of the owner's is as it was.
            _ = try await place.authenticator.verify(owner.token)
            #expect(try await place.authenticator.sessions(of: owner.userID).map(\.id) == [owner.sessionID])
            #expect(try await place.authenticator.apiKeys(of: owner.userID).map(\.isDisabled) == [false])
            _ = try await place.authenticator.refresh(owner.refreshToken)
        }
    }
}
