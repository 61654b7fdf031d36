import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

@Suite struct PasswordLinkPagesTests {
    @Test("the account's owner gets the link by mail, and no log-in ends until it's used")
    func sending() async throws {
        try await MailingPanel.with { fixture, browser, folder in
            let client = browser.client
            let account = "/panel/accounts/\(try #require(fixture.users["owner"]))"
            let theirs = try await PanelBrowser.loggedIn(client, as: "owner")
            let admin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await admin.get(account).text.contains(#"action="\#(account)/password-link""#))
            let sent = try await admin.post("\(account)/password-link")
            #expect(sent.status == 303 && sent.headers[.location] == account, "\(sent.text)")
            let page = try await admin.get(account).text
            #expect(page.contains("on its way to owner@example.org") && !page.contains("token="))
            let mail = try await folder.mails(1)[0]
            #expect(
                mail.contains("To: owner@example.org") && mail.contains("An administrator had this link sent to you"))
            #expect(try await theirs.get("/panel").status == 200)
            #expect(try await PanelBrowser(client).logIn(as: "owner").status == 303)
            let link = try #require(MailingPanel.link(in: mail))
            #expect(try await MailingPanel.setPassword("battery staple", by: link, browser).status == 200)
            #expect(try await theirs.get("/panel").status == 303)
            #expect(try await PanelBrowser(client).logIn(as: "owner").status == 401)
            #expect(try await PanelBrowser(client).logIn(as: "owner", password: "battery staple").status == 303)
        }
    }

    @Test("an address gets five of these mails an hour, regardless of strangers' requests")
    func limits() async throws {
        try await MailingPanel.with { fixture, browser, _ in
            let path = "/panel/accounts/\(try #require(fixture.users["owner"]))/password-link"
            for _ in 0..<6 {
                try await browser.send(
                    "/panel/forgotten", ["email": ServiceFixture.email("owner")], token: nil,
                    headers: [.origin: "http://localhost"])
            }
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            for _ in 0..<5 { #expect(try await admin.post(path).status == 303) }
            let refused = try await admin.post(path)
            #expect(refused.status == 429 && refused.headers[.retryAfter] != nil, "\(refused.text)")
        }
    }

    @Test("an account that is disabled or has no address gets no link, and its page says why")
    func refusing() async throws {
        try await MailingPanel.with { fixture, browser, folder in
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            let outsider = ObjectId.generate()
            try await fixture.pool.query(
                "INSERT INTO tombolo.account (id, display_name) VALUES ($1, 'Outsider')", [.bytea(outsider.bytes)])
            let owner = try #require(fixture.users["owner"])
            #expect(try await admin.post("/panel/accounts/\(owner)/disable").status == 303)
            for (id, status, reason) in [
                (owner, 409, "get a password link"), (outsider, 422, "no e-mail address to mail"),
            ] {
                let page = try await admin.get("/panel/accounts/\(id)").text
                #expect(page.contains(reason) && !page.contains("/password-link"), "\(page)")
                let refused = try await admin.post("/panel/accounts/\(id)/password-link")
                #expect(refused.status == status && refused.text.contains(reason), "\(refused.text)")
            }
            for id in ["x", "ffffffffffffffffffffffff"] {
                #expect(try await admin.post("/panel/accounts/\(id)/password-link").status == 404)
            }
            #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.mail_token").isEmpty && folder.mails().isEmpty)
        }
    }
}
