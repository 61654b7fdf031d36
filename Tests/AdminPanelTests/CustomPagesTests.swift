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

/// An app's own pages.
@Suite struct CustomPagesTests {
    private static func run(
        _ body: @escaping @Sendable (ServiceFixture, any TestClientProtocol, DeskPages.Book) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let pages = DeskPages()
            try await PanelBrowser.with(fixture, additions: PanelAdditions(pages: [pages])) { _, client in
                try await body(fixture, client, pages.book)
            }
        }
    }

    @Test("an app's page is only for those its access admits, and is in their navigation")
    func access() async throws {
        try await Self.run { _, client, _ in
            let link = #"<a href="/panel/desk">Front desk</a>"#
            let owner = try await PanelBrowser.loggedIn(client, as: "owner")
            let overview = try await owner.get("/panel").text
            #expect(overview.contains(link) && overview.contains("<h2>App</h2>"), "\(overview)")
            let page = try await owner.get("/panel/desk")
            #expect(page.status == 200 && page.text.contains("<h1>Front desk</h1>"), "\(page.text)")
            #expect(page.text.contains(#"<a href="/panel/desk" aria-current="page">"#))
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "\(policy)")
            for role in ["attendee", "admin"] {
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                let refused = try await browser.get("/panel/desk")
                #expect(refused.status == 403 && refused.text.contains("<h1>Not permitted</h1>"), "\(role)")
                #expect(!(try await browser.get("/panel").text.contains("/panel/desk")), "\(role)")
                #expect(try await browser.post("/panel/desk", ["note": "x"]).status == 403, "\(role)")
            }
        }
    }

    @Test("without a session, an app's pages aren't shown, and its forms do nothing")
    func withoutSession() async throws {
        try await Self.run { fixture, client, book in
            let nobody = PanelBrowser(client)
            let answer = try await nobody.get("/panel/desk")
            #expect(answer.status == 303 && answer.headers[.location] == "/panel/login?next=%2Fpanel%2Fdesk")
            #expect(try await nobody.send("/panel/desk", ["note": "x"], token: "x").status == 401)
            let bearer: HTTPFields = [.authorization: try #require(try await fixture.authorization("owner"))]
            #expect(try await nobody.get("/panel/desk", headers: bearer).status == 303)
            #expect(book.all.isEmpty)
        }
    }

    @Test("a page reads only what the rules let its reader read, and escapes it")
    func reading() async throws {
        try await Self.run { fixture, client, _ in
            try await fixture.pool.query(
                "UPDATE session SET title = '<i>Talk</i>' WHERE _id = $1", [.bytea(fixture.sessions[0].bytes)])
            let owner = try await PanelBrowser.loggedIn(client, as: "owner")
            let page = try await owner.get("/panel/desk?word=%3Cscript%3Ealert(1)%3C%2Fscript%3E").text
            #expect(page.contains("<li>&lt;i&gt;Talk&lt;/i&gt;</li>"), "\(page)")
            #expect(page.contains("<li>Talk 3</li>") && !page.contains("Secret talk"))
            #expect(page.contains(#"<p id="word">&lt;script&gt;alert(1)&lt;/script&gt;</p><p></p>"#), "\(page)")
            let stranger = try await PanelBrowser.loggedIn(client, as: "stranger")
            let theirs = try await stranger.get("/panel/desk").text
            #expect(theirs.contains("<li>Secret talk</li>") && !theirs.contains("<li>Talk 3</li>"), "\(theirs)")
        }
    }

    @Test("an app's form does nothing without its session's token; with it, the next page reports the result")
    func forms() async throws {
        try await Self.run { _, client, book in
            let owner = try await PanelBrowser.loggedIn(client, as: "owner")
            let other = try await PanelBrowser.loggedIn(client, as: "organizer")
            for token in [nil, "x", try await other.formToken()] {
                let refused = try await owner.send("/panel/desk", ["note": "Key 7"], token: token)
                #expect(refused.status == 403 && refused.text.contains("Nothing was changed."), "\(refused.text)")
            }
            let evil: HTTPFields = [.origin: "https://evil.example"]
            #expect(try await owner.post("/panel/desk", ["note": "Key 7"], headers: evil).status == 403)
            #expect(book.all.isEmpty)
            let form = try await owner.get("/panel/desk").text
            let token = String(try #require(form.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
            let done = try await owner.send("/panel/desk", ["note": "Key <7>"], token: token)
            #expect(done.status == 303 && done.headers[.location] == "/panel/desk")
            #expect(book.all == ["Key <7>"])
            #expect(try await owner.get("/panel/desk").text.contains("<p>Noted: Key &lt;7&gt;</p>"))
        }
    }

    @Test("an action that requires the password again asks for it, then continues with what was sent")
    func password() async throws {
        try await Self.run { fixture, client, book in
            let owner = try await PanelBrowser.loggedIn(client, as: "owner")
            try await PanelBrowser.ageProofs(fixture.pool)
            let asked = try await owner.post("/panel/desk/close")
            #expect(asked.status == 403 && asked.text.contains(#"name="_password""#), "\(asked.text)")
            #expect(book.all.isEmpty)
            let done = try await owner.post("/panel/desk/close", ["_password": ServiceFixture.password])
            #expect(done.status == 303, "\(done.text)")
            let user = try #require(fixture.users["owner"])
            #expect(book.all == ["closed by \(user)"])
        }
    }

    @Test("a failure becomes an error page, and showing a page changes nothing")
    func failures() async throws {
        try await Self.run { fixture, client, _ in
            let owner = try await PanelBrowser.loggedIn(client, as: "owner")
            let lost = try await owner.get("/panel/desk/lost")
            #expect(lost.status == 404 && lost.text.contains("There is no &lt;key&gt; here."), "\(lost.text)")
            #expect(lost.text.contains("Ask at the other desk.") && lost.text.contains("<h1>Not found</h1>"))
            #expect(try await owner.get("/panel/desk/nothing").status == 404)
            let changing = try await owner.get("/panel/desk/changes/\(fixture.tickets[0])")
            #expect(changing.status == 500 && changing.text.contains("Pages may not change data."), "\(changing.text)")
            let name = try await fixture.pool.query(
                "SELECT name FROM ticket WHERE _id = $1", [.bytea(fixture.tickets[0].bytes)])[0, 0].string
            #expect(name == "Early")
        }
    }

    @Test("users who view as somebody else see an app's page as that person does, and can't send anything")
    func viewing() async throws {
        try await Self.run { fixture, client, book in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get("/panel/desk").text.contains("<li>Secret talk</li>"))
            let owner = try #require(fixture.users["owner"])
            #expect(try await browser.post("/panel/view-as", ["user": "\(owner)"]).status == 303)
            let page = try await browser.get("/panel/desk").text
            #expect(page.contains("<li>Talk 3</li>") && !page.contains("Secret talk"), "\(page)")
            #expect(page.contains("You are viewing the panel as"))
            let sent = try await browser.post("/panel/desk", ["note": "x"])
            #expect(sent.status == 403 && sent.text.contains("nothing was changed") && book.all.isEmpty)
            #expect(try await browser.post("/panel/view-as/end").status == 303)
            let attendee = try #require(fixture.users["attendee"])
            #expect(try await browser.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
            #expect(try await browser.get("/panel/desk").status == 403)
        }
    }

    @Test("users who must set up a second factor see no app pages until they have")
    func secondFactor() async throws {
        try await ServiceFixture.with { fixture in
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.adminServer.pool,
                authenticator: try await fixture.adminAuthenticator(secondFactor: .everywhere),
                models: fixture.adminModels, additions: PanelAdditions(pages: [DeskPages()]))
            try await PanelBrowser.with(fixture, panel: panel) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await browser.get("/panel/desk")
                #expect(page.status == 303 && page.headers[.location] == "/panel/second-factor", "\(page.text)")
            }
        }
    }

    @Test("the page of routes includes an app's routes, with each role's access")
    func routes() async throws {
        try await Self.run { _, client, _ in
            let browser = try await PanelBrowser.loggedIn(client, as: "admin")
            let page = try await browser.get("/panel/permissions/routes?search=desk").text
            for route in ["GET /panel/desk<", "POST /panel/desk<", "POST /panel/desk/close<"] {
                #expect(page.contains(route), "\(page)")
            }
            #expect(page.contains("update Order"))
        }
    }
}
