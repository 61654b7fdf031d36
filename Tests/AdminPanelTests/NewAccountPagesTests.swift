import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

@Suite struct NewAccountPagesTests {
    private static let path = "/panel/accounts/new"
    private static let person = ["email": " New@Example.org ", "name": "New Person"]

    /// The user's name, whether their address is verified, and how many roles they have.
    private static func user(_ fixture: ServiceFixture) async throws -> String {
        try await fixture.pool.query(
            """
            SELECT concat_ws(' ', u.display_name, CASE WHEN a.verified_at IS NULL THEN 'unverified' ELSE 'verified' END,
                (SELECT count(*) FROM role_assignment r WHERE r."user" = u._id))
            FROM users u JOIN tombolo.account a ON a.id = u._id WHERE a.email = 'new@example.org'
            """)[0, 0].string
    }

    @Test(
        "an added user sets a password through a mailed link, which verifies the address; nobody else sees the link"
    )
    func adding() async throws {
        try await MailingPanel.with { fixture, browser, folder in
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            #expect(try await admin.get("/panel/accounts").text.contains(#"href="/panel/accounts/new""#))
            #expect(try await admin.get(Self.path).text.contains("good for 7 days"))
            let added = try await admin.post(Self.path, Self.person)
            let account = try #require(added.headers[.location])
            #expect(added.status == 303 && account.contains(/^\/panel\/accounts\/[0-9a-f]{24}$/), "\(added.text)")
            #expect(try await Self.user(fixture) == "New Person unverified 0")
            let page = try await admin.get(account).text
            #expect(page.contains("on its way to new@example.org") && page.contains("not verified"))
            let mail = try await folder.mails(1)[0]
            #expect(mail.contains("To: new@example.org") && mail.contains("within 7 days"))
            let link = try #require(MailingPanel.link(in: mail))
            #expect(!page.contains("token=") && !added.text.contains("token="))
            let lasting = try await fixture.pool.query(
                "SELECT expires_at BETWEEN now() + interval '6 days' AND now() + interval '8 days' FROM tombolo.mail_token"
            )
            #expect(try lasting[0, 0].bool)
            // A mailed link works once.
            #expect(try await MailingPanel.setPassword("battery staple", by: link, browser).status == 200)
            #expect(try await MailingPanel.setPassword("battery stable", by: link, browser).status == 400)
            #expect(try await Self.user(fixture) == "New Person verified 0")
            #expect(try await PanelBrowser(browser.client).logIn(as: "new", password: "battery staple").status == 303)
        }
    }

    @Test("an address that already has an account links to that account, and invalid values stay in the form")
    func refusing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try #require(fixture.users["owner"])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let taken = try await browser.post(Self.path, ["email": " OWNER@example.org", "name": "Somebody"])
                #expect(
                    taken.status == 409 && taken.text.contains(#"href="/panel/accounts/\#(owner)""#), "\(taken.text)")
                for fields in [["email": "nobody", "name": "Somebody"], ["email": "new@example.org", "name": " "]] {
                    let refused = try await browser.post(Self.path, fields)
                    #expect(refused.status == 422 && refused.text.contains("cannot be used"), "\(fields)")
                    #expect(refused.text.contains(#"value="\#(fields["email"] ?? "")""#), "\(refused.text)")
                }
                #expect(try await browser.send(Self.path, Self.person, token: "x").status == 403)
                let found = try await fixture.pool.query(
                    "SELECT 1 FROM tombolo.account WHERE email LIKE 'new%' OR display_name = 'Somebody'")
                #expect(found.isEmpty)
            }
        }
    }

    @Test("without mail the account is still created, and the pages say how it gets a password")
    func withoutMail() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.get(Self.path).text.contains("migration-tool user password ADDRESS"))
                let added = try await browser.post(Self.path, Self.person)
                let account = try #require(added.headers[.location])
                let page = try await browser.get(account).text
                #expect(page.contains("It has no password") && page.contains("that requires TOMBOLO_MAIL"))
                #expect(!page.contains("/password-link"))
                let refused = try await browser.post("\(account)/password-link")
                #expect(refused.status == 503 && refused.text.contains("migration-tool user password"))
                #expect(try await PanelBrowser(client).logIn(as: "new", password: "battery staple").status == 401)
                try await AccountRegistry(pool: fixture.pool).setPassword("battery staple", email: "new@example.org")
                #expect(try await PanelBrowser(client).logIn(as: "new", password: "battery staple").status == 303)
            }
        }
    }

    @Test("users who may only see accounts can't add any, and can't cause mails")
    func access() async throws {
        try await MailingPanel.with { fixture, browser, folder in
            let link = "/panel/accounts/\(try #require(fixture.users["attendee"]))/password-link"
            for role in ["admin", "owner", "attendee"] {
                let browser = try await PanelBrowser.loggedIn(browser.client, as: role)
                #expect(try await browser.get(Self.path).status == 403)
                #expect(try await browser.post(Self.path, Self.person).status == 403)
                #expect(try await browser.post(link).status == 403)
            }
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "admin")
            #expect(try await !admin.get("/panel/accounts").text.contains(Self.path))
            #expect(try await !admin.get(String(link.dropLast("/password-link".count))).text.contains("/password-link"))
            #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.mail_token").isEmpty && folder.mails().isEmpty)
        }
    }
}
