import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TicketService
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Walks all routes of the server, so new routes are tested without being named here.
@Suite struct AccessTests {
    private static let publicRoutes: Set<String> = [
        "GET /health", "GET /ready", "POST /login", "GET /events/{id}", "GET /events/{id}/tickets",
        "GET /api/openapi.json", "POST /invitations/join",
    ]

    /// These expect a refresh token instead of an access token.
    private static let sessionRoutes: Set<String> = ["POST /session", "DELETE /session"]

    /// Whether these need a token depends on the class in the address; this test uses a class that needs one.
    private static let ruledRoutes: Set<String> = [
        "GET /api/{collection}", "GET /api/{collection}/{id}", "GET /api/{collection}/{id}/{relationship}",
        "GET /api/{collection}/{id}/relationships/{relationship}", "POST /api/{collection}",
        "PATCH /api/{collection}/{id}", "DELETE /api/{collection}/{id}",
        "PATCH /api/{collection}/{id}/relationships/{relationship}",
        "POST /api/{collection}/{id}/relationships/{relationship}",
        "DELETE /api/{collection}/{id}/relationships/{relationship}", "GET /export/{collection}",
    ]

    private static func applications(_ fixture: ServiceFixture) throws -> [HTTPApplication] {
        [
            buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                models: fixture.adminModels, authenticator: fixture.adminServer.authenticator, limits: .unhurried),
            try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.ticketServer.authenticator, limits: .unhurried),
        ]
    }

    @Test func everyRouteExceptTheListedPublicOnesAnswers401WithoutAToken() async throws {
        try await ServiceFixture.with { fixture in
            var open: Set<String> = []
            for app in try Self.applications(fixture) {
                #expect(app.routes.count >= 6)
                try await app.test(.router) { client in
                    for route in app.routes {
                        for id in [fixture.event, fixture.sessions[0], fixture.tickets[0], .generate()] {
                            let response = try await client.execute(
                                uri: Caller.address(route, id: id.stringValue),
                                method: try #require(HTTPRequest.Method(route.method)))
                            let isPublic = Self.publicRoutes.contains("\(route.method) \(route.path)")
                            #expect((response.status == .unauthorized) == !isPublic, "\(route)")
                            let isSession = Self.sessionRoutes.contains("\(route.method) \(route.path)")
                            let isRuled = Self.ruledRoutes.contains("\(route.method) \(route.path)")
                            #expect((isPublic || isSession || isRuled) == route.isOpen, "\(route)")
                        }
                    }
                }
                open.formUnion(app.routes.filter(\.isOpen).map { "\($0.method) \($0.path)" })
            }
            #expect(open == Self.publicRoutes.union(Self.sessionRoutes).union(Self.ruledRoutes))
        }
    }

    @Test("Without a token, the API answers 401 for every class that the rules don't open to anonymous visitors")
    func everyClassOfTheAPI() async throws {
        try await ServiceFixture.with { fixture in
            let app = try #require(Self.applications(fixture).first)
            let routes = app.routes.filter { $0.path.hasPrefix("/api/{collection}") }
            #expect(routes.count == 10)
            try await app.test(.router) { client in
                for item in fixture.rules.schema.classes where item.owner == nil {
                    for route in routes {
                        let address = Caller.address(
                            route, id: ObjectId.generate().stringValue, collection: item.collectionName)
                        let response = try await client.execute(
                            uri: address, method: try #require(HTTPRequest.Method(route.method)))
                        let isOpen = route.method == "GET" && ["Event", "Ticket"].contains(item.name)
                        #expect((response.status != .unauthorized) == isOpen, "\(route.method) \(address)")
                        #expect(response.headers[.contentType] == "application/vnd.api+json")
                    }
                }
            }
        }
    }

    @Test(arguments: ["attendee", "owner", "organizer", "coorganizer", "registrar", "stranger"])
    func whoIsNoAdministratorGets403EverywhereUnderAdmin(role: String) async throws {
        try await ServiceFixture.with { fixture in
            let app = try #require(Self.applications(fixture).first)
            let routes = app.routes.filter { $0.path.hasPrefix("/admin") }
            #expect(routes.count == 16)
            try await app.test(.router) { client in
                let call = Caller(client, fixture)
                for route in routes {
                    let ids = [fixture.event, fixture.sessions[0], fixture.users["attendee"], .generate()]
                    for id in ids.compactMap({ $0?.stringValue }) + ["nonsense"] {
                        let answer = try await call(
                            try #require(HTTPRequest.Method(route.method)), Caller.address(route, id: id), as: role)
                        #expect(answer.status == 403, "\(route) \(id): \(answer.text)")
                    }
                }
                let trashed = try await fixture.pool.query(
                    """
                    SELECT 1 FROM session WHERE trashed_at IS NOT NULL
                    UNION SELECT 1 FROM event WHERE trashed_at IS NOT NULL
                    """)
                #expect(trashed.isEmpty)
            }
        }
    }

    @Test func anExpiredForgedOrForeignTokenIs401() async throws {
        try await ServiceFixture.with { fixture in
            let good = try #require(try await fixture.authorization("admin"))
            let app = try #require(Self.applications(fixture).first)
            try await app.test(.router) { client in
                for token in [good + "x", String(good.dropLast(3)), "Bearer a.b.c", "Bearer null"] {
                    let response = try await client.execute(
                        uri: "/admin/trash", method: .get, headers: [.authorization: token])
                    #expect(response.status == .unauthorized)
                }
                let fine = try await client.execute(
                    uri: "/admin/trash", method: .get, headers: [.authorization: good])
                #expect(fine.status == .ok)
            }
        }
    }

    @Test func loggingInGivesATokenAndAWrongPasswordGivesNothingAway() async throws {
        try await ServiceFixture.with { fixture in
            let app = try #require(Self.applications(fixture).first)
            try await app.test(.router) { client in
                let call = Caller(client, fixture)
                let body = { (email: String, password: String) in #"{"email": "\#(email)", "password": "\#(password)"}"#
                }
                let answer = try await call(
                    .post, "/login", body: body("ADMIN@example.org", ServiceFixture.password))
                #expect(answer.status == 200)
                #expect(answer.json["userID"]?.text == fixture.users["admin"]?.stringValue)
                #expect(answer.json["expiresAt"]?.text?.hasSuffix("Z") == true)
                #expect(answer.json["accessToken"]?.text?.isEmpty == false)
                let wrong = try await call(.post, "/login", body: body("admin@example.org", "wrong"))
                let nobody = try await call(.post, "/login", body: body("nobody@example.org", "wrong"))
                #expect(wrong.status == 401 && nobody.status == 401)
                #expect(wrong.json == nobody.json)
                #expect(wrong.json["code"] == "wrong_credentials")
                for broken in [
                    "", "{}", #"{"email": 1, "password": "x"}"#, #"{"email": "a\u0000@b.c", "password": "x"}"#,
                ] {
                    #expect(try await [400, 401].contains(call(.post, "/login", body: broken).status), "\(broken)")
                }
            }
        }
    }

    @Test func aUserInTheTrashCanNeitherLogInNorUseAToken() async throws {
        try await ServiceFixture.with { fixture in
            let app = try #require(Self.applications(fixture).first)
            try await app.test(.router) { client in
                let call = Caller(client, fixture)
                let user = try #require(fixture.users["organizer"])
                #expect(try await call(.post, "/admin/users/\(user)/trash", as: "admin").status == 200)
                fixture.forgetRoles()
                let answer = try await call(
                    .post, "/login",
                    body: #"{"email": "organizer@example.org", "password": "\#(ServiceFixture.password)"}"#)
                #expect(answer.status == 401, "\(answer.text)")
            }
        }
    }

    @Test func aLiveServerTakesAFreePortAndStopsWhenAsked() async throws {
        try await ServiceFixture.with { fixture in
            for app in try Self.applications(fixture) {
                try await app.live { port in
                    #expect(port > 0)
                    try await PatientClient.with(port) { call in
                        for (path, status) in [("/health", 200), ("/ready", 200), ("/nowhere", 404)] {
                            let answer = try await call(.get, path)
                            #expect(answer.status == status, "\(path): \(answer.text)")
                        }
                    }
                }
            }
        }
    }

    @Test("logging in every way, refreshing the token and logging out work with each server's database role")
    func everyLogin() async throws {
        try await ServiceFixture.with { fixture in
            let providers = ProviderRegistry(pool: fixture.pool)
            for name in [Provider.anonymous, Provider.apiKey] { try await providers.setEnabled(true, name) }
            let owner = try #require(fixture.users["owner"])
            let key = try await fixture.authenticator.makeAPIKey(named: "tests", for: owner).text
            for app in try Self.applications(fixture) {
                try await app.test(.router) { client in
                    let call = Caller(client, fixture)
                    for body in [
                        #"{"email": "owner@example.org", "password": "\#(ServiceFixture.password)"}"#,
                        #"{"provider": "anon-user"}"#, #"{"provider": "api-key", "key": "\#(key)"}"#,
                    ] {
                        let login = try await call(.post, "/login", body: body)
                        #expect(login.status == 200, "\(body): \(login.text)")
                        let refresh = try #require(login.json["refreshToken"]?.text)
                        for (method, status) in [(HTTPRequest.Method.post, 200), (.delete, 204)] {
                            let answer = try await client.execute(
                                uri: "/session", method: method, headers: [.authorization: "Bearer \(refresh)"])
                            #expect(answer.status.code == status, "\(method) \(body)")
                        }
                    }
                }
            }
        }
    }

    @Test func withoutItsDatabaseAServerIsHealthyAndNotReady() async throws {
        try await ServiceFixture.with { fixture in
            let app = try #require(Self.applications(fixture).first)
            await fixture.adminServer.pool.shutdown()
            try await app.test(.router) { client in
                #expect(try await client.execute(uri: "/health", method: .get).status == .ok)
                let ready = try await client.execute(uri: "/ready", method: .get)
                #expect(ready.status == .serviceUnavailable)
                #expect(ready.headers[.retryAfter] != nil)
            }
        }
    }
}
