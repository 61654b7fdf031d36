import AdminPanel
import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite struct PasswordPagesTests {
    private static let new = "battery staple"

    // MARK: Changing the password

    @Test(
        "a user who knows the current password can change it, stays logged in here, and is logged out everywhere else")
    func changing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let other = try await PanelBrowser.loggedIn(client, as: "owner")
                let before = browser.cookie("tombolo_panel")
                let form = try await browser.get("/panel/own-password")
                #expect(form.status == 200 && form.text.contains("owner@example.org"), "\(form.text)")
                let fields = ["current": ServiceFixture.password, "password": Self.new, "again": Self.new]
                let changed = try await browser.post("/panel/own-password", fields)
                #expect(changed.status == 303 && changed.headers[.location] == "/panel", "\(changed.text)")
                #expect(browser.cookie("tombolo_panel") != before)
                #expect(try await browser.get("/panel").text.contains("Your password was changed."))
                #expect(try await other.get("/panel").status == 303)
                #expect(try await PanelBrowser(client).logIn(as: "owner").status == 401)
                #expect(try await PanelBrowser(client).logIn(as: "owner", password: Self.new).status == 303)
                // The browser's previous cookie no longer works.
                browser.setCookie("tombolo_panel", before)
                #expect(try await browser.get("/panel").status == 303)
            }
        }
    }

    @Test(
        "an invalid new password or a wrong current one changes nothing",
        arguments: [
            (["current": "wrong password", "password": new, "again": new], "This isn&#39;t your current password."),
            (["current": ServiceFixture.password, "password": new, "again": "battery stable"], "passwords differ."),
            (["current": ServiceFixture.password, "password": "short", "again": "short"], "at least 8 characters"),
            (
                ["current": ServiceFixture.password, "password": "owner2027", "again": "owner2027"],
                "little more than your e-mail address or name"
            ),
            (
                ["current": ServiceFixture.password, "password": "Passw0rd!", "again": "Passw0rd!"],
                "most common passwords"
            ),
            (
                [
                    "current": ServiceFixture.password, "password": ServiceFixture.password,
                    "again": ServiceFixture.password,
                ], "it is your current password."
            ),
            ([:], "at least 8 characters"),
        ])
    func refusing(_ fields: [String: String], _ reason: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let refused = try await browser.post("/panel/own-password", fields)
                #expect(refused.status == 422 && refused.text.contains(reason), "\(refused.text)")
                #expect(!refused.text.contains(Self.new) && !refused.text.contains(ServiceFixture.password))
                #expect(try await browser.get("/panel").status == 200)
                #expect(try await PanelBrowser(client).logIn(as: "owner").status == 303)
            }
        }
    }

    @Test("the second factor is asked for too, and the new session keeps it")
    func secondFactor() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                try await browser.post("/panel/second-factor/begin")
                let page = try await browser.get("/panel/second-factor/set-up").text
                let app = AuthenticatorApp(
                    typing: String(
                        try #require(page.firstMatch(of: /<dt>Secret<\/dt><dd><code>([A-Z2-7 ]+)<\/code>/)).1))
                let done = try await app.take { try await browser.post("/panel/second-factor/confirm", ["code": $0]) }
                #expect(done.status == 200, "\(done.text)")
                try await fixture.pool.query("UPDATE tombolo.second_factor SET last_step = 0")
                let fields = ["current": ServiceFixture.password, "password": Self.new, "again": Self.new]
                #expect(try await browser.get("/panel/own-password").text.contains(#"name="code""#))
                #expect(try await browser.post("/panel/own-password", fields).status == 401)
                let changed = try await app.take {
                    try await browser.post("/panel/own-password", fields.merging(["code": $0]) { $1 })
                }
                #expect(changed.status == 303, "\(changed.text)")
                #expect(try await browser.get("/panel/data/sessions").status == 200)
            }
        }
    }

    @Test("nobody can change a password while viewing as somebody else, or from another site's page")
    func elsewhere() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let fields = ["current": ServiceFixture.password, "password": Self.new, "again": Self.new]
                #expect(try await browser.send("/panel/own-password", fields, token: "x").status == 403)
                let owner = try #require(fixture.users["owner"])
                try await browser.post("/panel/view-as", ["user": owner.stringValue])
                #expect(try await browser.get("/panel/own-password").status == 403)
                #expect(try await browser.post("/panel/own-password", fields).status == 403)
                #expect(try await PanelBrowser(client).logIn(as: "superAdmin").status == 303)
                #expect(try await PanelBrowser(client).logIn(as: "owner").status == 303)
            }
        }
    }

    // MARK: Forgotten passwords

    private static let sameOrigin: HTTPFields = [.origin: "http://localhost"]

    @Test("a mailed link sets a new password once, and no answer reveals whether an address has an account")
    func forgotten() async throws {
        try await MailingPanel.with { _, browser, folder in
            #expect(try await browser.get("/panel/login").text.contains(#"href="/panel/forgotten""#))
            #expect(try await browser.get("/panel/forgotten").text.contains(#"name="email""#))
            var answers: [String] = []
            // The known address comes last, so that its mail is sent after anything that the others caused.
            for email in ["nobody@example.org", ServiceFixture.email("owner")] {
                let sent = try await browser.send(
                    "/panel/forgotten", ["email": email], token: nil, headers: Self.sameOrigin)
                #expect(sent.status == 200, "\(sent.text)")
                answers.append(sent.text.replacing(email, with: "ADDRESS"))
            }
            #expect(answers[0] == answers[1])
            let found = try await folder.mails(1)
            #expect(found.count == 1 && found[0].contains("To: owner@example.org"))
            let link = try #require(
                found[0].firstMatch(of: /https:\/\/admin\.example\.org(\/panel\/forgotten\/reset\?\S+)/))
            let page = try await browser.get(String(link.1))
            #expect(page.status == 200 && page.text.contains("Set the password"), "\(page.text)")
            #expect(page.headers[.init("Referrer-Policy")!] == "same-origin")
            // For password managers. Nobody else is shown the address.
            let username = #"value="owner@example.org" readonly autocomplete="username""#
            #expect(page.text.contains(username))
            let forged = String(link.1).replacing(/token=[^&]+/, with: "token=AAAA")
            #expect(!(try await browser.get(forged).text.contains("owner@example.org")))
            var fields = Dictionary(uniqueKeysWithValues: PanelBrowser.hidden(page.text))
            fields["password"] = Self.new
            fields["again"] = "battery stable"
            func reset(_ headers: HTTPFields = Self.sameOrigin) async throws -> Answer {
                try await browser.send("/panel/forgotten/reset", fields, token: nil, headers: headers)
            }
            let differing = try await reset()
            #expect(differing.status == 422 && differing.text.contains(username))
            fields["again"] = Self.new
            #expect(try await reset([.origin: "https://elsewhere.example"]).status == 403)
            let done = try await reset()
            #expect(done.status == 200 && done.text.contains("Your password was changed"), "\(done.text)")
            let again = try await reset()
            #expect(again.status == 400 && again.text.contains("Ask for another mail"), "\(again.status) \(again.text)")
            #expect(!again.text.contains("owner@example.org"))
            #expect(try await browser.logIn(as: "owner").status == 401)
            #expect(try await browser.logIn(as: "owner", password: Self.new).status == 303)
        }
    }

    @Test("a server that sends no mail says who can help")
    func withoutMail() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = PanelBrowser(client)
                let page = try await browser.get("/panel/forgotten")
                #expect(page.status == 200 && page.text.contains("migration-tool user password"))
                let sent = try await browser.send(
                    "/panel/forgotten", ["email": ServiceFixture.email("owner")], token: nil, headers: Self.sameOrigin)
                #expect(sent.status == 200 && sent.text.contains("migration-tool user password"))
            }
        }
    }

    @Test(
        "an invalid address can't be the admin server's",
        arguments: [
            "admin.example.org", "ftp://example.org", "https://", "https://example.org/?a=1", "https://u@h.org",
        ])
    func addresses(_ text: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try AdminAddress(text) }
        #expect(error?.problems.first?.hasPrefix("TOMBOLO_ADMIN_URL is '\(text)'") == true)
    }
}
