import AdminPanel
import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite struct SecondFactorPagesTests {
    /// Sets up a second factor.
    private static func setUp(
        _ browser: PanelBrowser, _ fixture: ServiceFixture
    ) async throws -> (app: AuthenticatorApp, codes: [String]) {
        #expect(
            try await browser.post("/panel/second-factor/begin").headers[.location] == "/panel/second-factor/set-up")
        let page = try await browser.get("/panel/second-factor/set-up")
        #expect(page.status == 200 && page.text.contains("<svg class=\"qr\""), "\(page.text)")
        let secret = try #require(page.text.firstMatch(of: /<dt>Secret<\/dt><dd><code>([A-Z2-7 ]+)<\/code>/)).1
        let app = AuthenticatorApp(typing: String(secret))
        let wrong = try await browser.post("/panel/second-factor/confirm", ["code": "nonsense"])
        #expect(wrong.status == 401 && wrong.text.contains("This code is wrong") && wrong.text.contains(secret))
        let done = try await app.take { try await browser.post("/panel/second-factor/confirm", ["code": $0]) }
        #expect(done.status == 200, "\(done.text)")
        let codes = done.text.matches(of: /<li><code>([a-z2-7-]{19})<\/code>/).map { String($0.1) }
        #expect(codes.count == SecondFactor.recoveryCodeCount)
        try await forgetUse(fixture)
        return (app, codes)
    }

    /// Makes used codes valid again, instead of waiting half a minute.
    private static func forgetUse(_ fixture: ServiceFixture) async throws {
        try await fixture.pool.query("UPDATE tombolo.second_factor SET last_step = 0")
    }

    @Test("once set up, it's asked for at log-in before any page, and when the password is asked for again")
    func logIn() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let (app, _) = try await Self.setUp(try await PanelBrowser.loggedIn(client, as: "superAdmin"), fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                for path in ["/panel", "/panel/data/sessions", "/panel/second-factor"] {
                    let answer = try await browser.get(path)
                    let location = try #require(answer.headers[.location], "\(path): \(answer.status)")
                    #expect(answer.status == 303 && location.hasPrefix("/panel/login/code"), "\(path)")
                }
                let form = try await browser.get("/panel/login/code?next=%2Fpanel%2Fdata%2Fsessions")
                #expect(
                    form.status == 200 && !form.text.contains("Talk 1") && !form.text.contains("/panel/permissions"))
                let token = String(try #require(form.text.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
                // Nor can anything be sent before.
                let sent = try await browser.send("/panel/second-factor/remove", [:], token: token)
                #expect(sent.status == 303 && sent.headers[.location] == "/panel/login/code")
                let wrong = try await browser.send("/panel/login/code", ["code": "000"], token: token)
                #expect(wrong.status == 401 && wrong.text.contains("This code is wrong"))
                #expect(try await browser.send("/panel/login/code", ["code": app.code()], token: "x").status == 403)
                var code = ""
                let before = try #require(browser.cookie("tombolo_panel"))
                let right = try await app.take {
                    code = $0
                    return try await browser.send(
                        "/panel/login/code", ["code": code, "next": "/panel/data/sessions"], token: token)
                }
                #expect(right.status == 303 && right.headers[.location] == "/panel/data/sessions", "\(right.text)")
                #expect(try await browser.get("/panel/data/sessions").text.contains("Talk 1"))
                // The cookie from before the code doesn't work for a thief who planted it.
                let thief = PanelBrowser(client)
                thief.setCookie("tombolo_panel", before)
                #expect(try await thief.get("/panel").headers[.location] == "/panel/login")
                #expect(browser.cookie("tombolo_panel") != before)

                // The same code again, in another window.
                let other = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await other.get("/panel/login/code").text
                let otherToken = String(try #require(page.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
                let replayed = try await other.send("/panel/login/code", ["code": code], token: otherToken)
                #expect(replayed.status == 401)

                // Asking for the password again.
                try await PanelBrowser.ageProofs(fixture.pool)
                try await Self.forgetUse(fixture)
                let asked = try await browser.post("/panel/second-factor/recovery-codes")
                #expect(asked.status == 403 && asked.text.contains(#"name="_code""#), "\(asked.text)")
                let fields = ["_password": ServiceFixture.password]
                #expect(try await browser.post("/panel/second-factor/recovery-codes", fields).status == 403)
                let proved = try await app.take {
                    try await browser.post(
                        "/panel/second-factor/recovery-codes", fields.merging(["_code": $0]) { $1 })
                }
                #expect(proved.status == 200 && proved.text.contains("Your earlier recovery codes"), "\(proved.text)")
            }
        }
    }

    @Test("a recovery code works once, and the second factor can be removed again")
    func recovery() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let first = try await PanelBrowser.loggedIn(client, as: "owner")
                let (_, codes) = try await Self.setUp(first, fixture)
                for expected: Int in [303, 401] {
                    let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                    let page = try await browser.get("/panel/login/code").text
                    let token = String(try #require(page.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
                    #expect(
                        try await browser.send("/panel/login/code", ["code": codes[2]], token: token).status == expected
                    )
                }
                #expect(try await first.get("/panel/second-factor").text.contains("9 recovery codes are left"))
                #expect(try await first.post("/panel/second-factor/remove").status == 303)
                #expect(try await first.get("/panel/second-factor").text.contains("off"))
                #expect(try await PanelBrowser.loggedIn(client, as: "owner").get("/panel").status == 200)
                let left = try await fixture.pool.query(
                    "SELECT (SELECT count(*) FROM tombolo.second_factor) + (SELECT count(*) FROM tombolo.recovery_code)"
                )
                #expect(try left[0, 0].int == 0)
            }
        }
    }

    @Test("users who manage accounts can remove somebody's second factor, nobody else can, and the audit log shows it")
    func reset() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try #require(fixture.users["owner"])
                _ = try await Self.setUp(try await PanelBrowser.loggedIn(client, as: "owner"), fixture)
                let path = "/panel/accounts/\(owner)"
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(try await admin.get(path).text.contains("<dt>Second factor</dt><dd>since "))
                #expect(try await admin.post("\(path)/second-factor/remove").status == 403)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.get(path).text.contains("\(path)/second-factor/remove"))
                #expect(try await browser.post("\(path)/second-factor/remove").status == 303)
                #expect(try await browser.get(path).text.contains("<dt>Second factor</dt><dd>none"))
                #expect(try await browser.post("\(path)/second-factor/remove").status == 409)
                let own = try #require(fixture.users["superAdmin"])
                #expect(try await browser.post("/panel/accounts/\(own)/second-factor/remove").status == 422)
                let logged = try await fixture.pool.query(
                    """
                    SELECT count(*) FROM tombolo.changelog
                    WHERE key = $1 AND operation = 'u' AND marks LIKE '%second_factor_at%'
                    """, [.text(owner.stringValue)])
                #expect(try logged[0, 0].int == 2)
            }
        }
    }

    @Test(
        "if roles that apply everywhere require one, their holders must set it up before anything else, also in the API"
    )
    func policy() async throws {
        try await ServiceFixture.with { fixture in
            let authenticator = try await fixture.adminAuthenticator(secondFactor: .everywhere)
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.adminServer.pool, authenticator: authenticator, models: fixture.adminModels)
            let server = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: rules, models: fixture.adminModels,
                authenticator: authenticator, pages: { panel.add(to: $0, with: $1) })
            try await server.test(.router) { client in
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                #expect(try await owner.get("/panel").status == 200)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let answer = try await browser.get("/panel/data/sessions")
                #expect(answer.status == 303 && answer.headers[.location] == "/panel/second-factor")
                let page = try await browser.get("/panel/second-factor")
                #expect(page.status == 200 && page.text.contains("Set it up to continue"))
                let token = String(try #require(page.text.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
                #expect(try await browser.send("/panel/second-factor/begin", [:], token: token).status == 303)
                let setUp = try await browser.get("/panel/second-factor/set-up").text
                let secret = try #require(setUp.firstMatch(of: /<dt>Secret<\/dt><dd><code>([A-Z2-7 ]+)<\/code>/)).1
                let app = AuthenticatorApp(typing: String(secret))

                func login(_ code: String?) async throws -> Answer {
                    let more = code.map { #", "code": "\#($0)""# } ?? ""
                    return try await PanelBrowser(client).call(
                        .post, "/login",
                        body:
                            #"{"email": "\#(ServiceFixture.email("superAdmin"))", "password": "correct horse"\#(more)}"#,
                        headers: [.contentType: "application/json", .accept: "*/*"])
                }
                func list(_ answer: Answer) async throws -> Answer {
                    let token = try #require(answer.text.firstMatch(of: /"accessToken":"([^"]+)"/)).1
                    return try await PanelBrowser(client).get(
                        "/api/sessions", headers: [.authorization: "Bearer \(token)", .accept: "*/*"])
                }
                let refused = try await list(try await login(nil))
                #expect(refused.status == 403 && refused.text.contains("second_factor_required"), "\(refused.text)")

                let confirmed = try await app.take {
                    try await browser.send("/panel/second-factor/confirm", ["code": $0], token: token)
                }
                #expect(confirmed.status == 200, "\(confirmed.text)")
                try await Self.forgetUse(fixture)
                #expect(try await browser.get("/panel/data/sessions").status == 200)
                #expect(try await browser.post("/panel/second-factor/remove").status == 422)
                #expect(try await list(try await login(nil)).status == 403)
                #expect(try await list(try await app.take { try await login($0) }).status == 200)
            }
        }
    }
}
