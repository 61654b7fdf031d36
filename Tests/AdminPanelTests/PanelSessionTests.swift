import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

@Suite struct PanelSessionTests {
    private static let open: Set<String> = [
        "GET /", "GET /panel/login", "POST /panel/login", "GET /panel/assets/{name}", "GET /panel/invitation",
        "POST /panel/invitation", "GET /panel/forgotten", "POST /panel/forgotten", "GET /panel/forgotten/reset",
        "POST /panel/forgotten/reset",
    ]

    @Test("a log-in leads to the requested page, with a cookie that scripts can't read")
    func logIn() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = PanelBrowser(client)
                let first = try await browser.get("/panel/data/sessions?sort=title")
                #expect(first.status == 303)
                let login = try #require(first.headers[.location])
                #expect(login == "/panel/login?next=%2Fpanel%2Fdata%2Fsessions%3Fsort%3Dtitle")
                let form = try await browser.get(login)
                #expect(form.status == 200 && form.text.contains("/panel/data/sessions?sort&#x3D;title") == false)
                #expect(form.text.contains(#"value="/panel/data/sessions?sort=title""#))
                let answer = try await browser.logIn(as: "admin", next: "/panel/data/sessions?sort=title")
                #expect(answer.status == 303)
                #expect(answer.headers[.location] == "/panel/data/sessions?sort=title")
                let cookie = try #require(answer.headers[values: .setCookie].first)
                for flag in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"] { #expect(cookie.contains(flag)) }
                #expect(cookie.hasPrefix("tombolo_panel=") && !cookie.contains("Secure"))
                let page = try await browser.get("/panel/data/sessions?sort=title")
                #expect(page.status == 200 && page.text.contains("Talk 1"))
            }
        }
    }

    @Test("behind an HTTPS proxy, the cookie is limited to HTTPS and to this host")
    func secureCookie() async throws {
        try await ServiceFixture.with { fixture in
            var limits = HTTPLimits.unhurried
            limits.trustedProxies = try TrustedProxies("127.0.0.1, ::1")
            let bounds = limits
            try await PanelBrowser.with(fixture, limits: bounds) { app, _ in
                try await app.live { port in
                    try await PatientClient.with(port) { call in
                        let https: HTTPFields = [
                            HTTPField.Name("X-Forwarded-Proto")!: "https",
                            HTTPField.Name("Sec-Fetch-Site")!: "same-origin",
                        ]
                        var form = https
                        form[.contentType] = "application/x-www-form-urlencoded"
                        let email = PanelBrowser.encode(ServiceFixture.email("admin"))
                        let password = PanelBrowser.encode(ServiceFixture.password)
                        let answer = try await call(
                            .post, "/panel/login", headers: form, body: "email=\(email)&password=\(password)")
                        let cookie = try #require(answer.headers[values: .setCookie].first, "\(answer.text)")
                        #expect(cookie.hasPrefix("__Host-tombolo_panel=") && cookie.hasSuffix("; Secure"))
                        var page = https
                        page[.cookie] = String(cookie.prefix { $0 != ";" })
                        page[.accept] = "text/html"
                        #expect(try await call(.get, "/panel", headers: page).status == 200)
                        // The cookie works over HTTPS only.
                        page[HTTPField.Name("X-Forwarded-Proto")!] = nil
                        page[HTTPField.Name("Sec-Fetch-Site")!] = nil
                        #expect(try await call(.get, "/panel", headers: page).status == 303)
                    }
                }
            }
        }
    }

    @Test(
        "a log-in doesn't redirect to another site",
        arguments: [
            "https://evil.example/", "//evil.example", "/\\evil.example", "/panel.evil.example", "/panel\\..\\x",
            "/api/sessions", "javascript:alert(1)", "/panel/\r\nSet-Cookie: a=b", "",
        ])
    func next(address: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let answer = try await PanelBrowser(client).logIn(as: "admin", next: address)
                #expect(answer.status == 303 && answer.headers[.location] == "/panel")
            }
        }
    }

    @Test("a failed log-in doesn't reveal what was wrong, and guessing is slowed down")
    func wrongPassword() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = PanelBrowser(client)
                let wrong = try await browser.logIn(as: "admin", password: "wrong")
                let nobody = try await browser.logIn(as: "nobody", password: "wrong")
                #expect(wrong.status == 401 && nobody.status == 401)
                #expect(wrong.text.contains("E-mail or password is wrong."))
                #expect(wrong.headers[values: .setCookie].isEmpty)
                let count = Authenticator.maximumFailedLogins
                for _ in 0..<count { try await browser.logIn(as: "owner", password: "no") }
                // A server forgets its own count after a minute, which may have passed by now. The count shared by all servers
                // stays, so pretend that there were twice as many attempts, the last one just now.
                let counted = try await fixture.pool.query(
                    """
                    UPDATE tombolo.attempt SET attempts = $1, last_at = now() + interval '1 day',
                        ends_at = now() + interval '2 days' WHERE attempts = $2
                    """, [.int64(Int64(Authenticator.maximumFailedLoginsOfAccount)), .int64(Int64(count))])
                #expect(counted.affectedRows == 1)
                let limited = try await browser.logIn(as: "owner")
                #expect(limited.status == 429 && limited.headers[.retryAfter] != nil, "\(limited.text)")
            }
        }
    }

    @Test("without a session, every page and action is refused and leads to the log-in")
    func everyRoute() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, client in
                let routes = app.routes.filter { $0.path.hasPrefix("/panel") || $0.path == "/" }
                #expect(routes.count > 6)
                #expect(Set(routes.filter(\.isOpen).map { "\($0.method) \($0.path)" }) == Self.open)
                for route in routes where !route.isOpen {
                    for name in ["sessions", "events", "users"] {
                        let path = Caller.address(route, id: fixture.event.stringValue, collection: name)
                        // A missing cookie, an invented cookie and an access token are all no session.
                        for headers: HTTPFields in [
                            [:], [.cookie: "tombolo_panel=\(String(repeating: "A", count: 43))"],
                            [.authorization: try #require(try await fixture.authorization("admin"))],
                        ] {
                            let answer = try await PanelBrowser(client).call(
                                try #require(HTTPRequest.Method(route.method)), path, headers: headers)
                            #expect(answer.status == (route.method == "GET" ? 303 : 401), "\(route) \(headers)")
                            #expect(!answer.text.contains("Talk 1") && !answer.text.contains("Island Days"))
                        }
                    }
                }
            }
        }
    }

    @Test("the panel's cookie works on the panel's routes only")
    func cookiesOnJSONRoutes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                for path in ["/api/sessions", "/admin/trash", "/admin/permissions"] {
                    let answer = try await browser.get(path, headers: [.accept: "*/*"])
                    #expect(answer.status == 401, "\(path)")
                }
            }
        }
    }

    @Test("logging in again ends the browser's previous session")
    func logInAgain() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                let before = try #require(browser.cookie("tombolo_panel"))
                let answer = try await browser.logIn(as: "organizer")
                #expect(answer.status == 303 && browser.cookie("tombolo_panel") != before)
                #expect(try await browser.get("/panel").status == 200)
                browser.setCookie("tombolo_panel", before)
                #expect(try await browser.get("/panel").status == 303)
            }
        }
    }

    @Test("logging out, revocation, a changed password and a disabled account each end the session at once")
    func ends() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let user = try #require(fixture.users["organizer"])
                let authenticator = fixture.adminServer.authenticator
                let ends: [@Sendable (PanelBrowser) async throws -> Void] = [
                    { browser in
                        let answer = try await browser.post("/panel/logout")
                        #expect(answer.headers[.location] == "/panel/login")
                    },
                    { _ in
                        for session in try await authenticator.sessions(of: user) {
                            try await fixture.pool.query(
                                "UPDATE tombolo.login_session SET revoked_at = now() WHERE id = $1",
                                [.bytea(session.id.bytes)])
                        }
                    },
                    { _ in
                        try await fixture.pool.query(
                            """
                            INSERT INTO tombolo.token_generation (user_id, generation) VALUES ($1, 1)
                            ON CONFLICT (user_id) DO UPDATE SET generation = tombolo.token_generation.generation + 1
                            """, [.bytea(user.bytes)])
                    },
                    { _ in
                        try await fixture.pool.query(
                            "UPDATE tombolo.panel_session SET used_at = used_at - interval '3 hours'")
                    },
                    { _ in
                        try await fixture.pool.query(
                            "UPDATE tombolo.panel_session SET created_at = created_at - interval '13 hours'")
                    },
                    { _ in
                        try await fixture.pool.query(
                            "UPDATE tombolo.account SET disabled_at = now() WHERE id = $1", [.bytea(user.bytes)])
                    },
                ]
                for (index, end) in ends.enumerated() {
                    let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                    let cookie = try #require(browser.cookie("tombolo_panel"))
                    #expect(try await browser.get("/panel").status == 200)
                    try await end(browser)
                    browser.setCookie("tombolo_panel", cookie)
                    #expect(try await browser.get("/panel").status == 303, "\(index)")
                }
            }
        }
    }

    @Test("the database stores no session's cookie, only a value derived from it")
    func hashes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let cookie = try #require(browser.cookie("tombolo_panel"))
                let token = try #require(PanelToken(cookie))
                let found = try await fixture.pool.query("SELECT token_hash FROM tombolo.panel_session")
                #expect(found.count == 1)
                #expect(try found[0, 0].bytes.count == 32 && !token.text.isEmpty)
                #expect(!"\(token)".contains(token.text))
            }
        }
    }
}
