import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

@Suite struct AccountPagesTests {
    @Test("accounts can be found by address, name or id, and by state")
    func list() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let owner = try #require(fixture.users["owner"])
                for search in ["owner@exam", "THE OWNER", owner.stringValue] {
                    let page = try await browser.get("/panel/accounts?search=\(PanelBrowser.encode(search))").text
                    #expect(page.contains("/panel/accounts/\(owner)") && !page.contains("The registrar"), "\(search)")
                }
                // Characters with a meaning in SQL patterns are taken literally.
                #expect(try await browser.get("/panel/accounts?search=%25").text.contains("No accounts match."))
                #expect(try await browser.get("/panel/accounts?state=disabled").text.contains("No accounts match."))
                #expect(try await browser.get("/panel/accounts?state=x").status == 400)
            }
        }
    }

    @Test("a disabled account is logged out, and can't log in until it is enabled")
    func disable() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try #require(fixture.users["owner"])
                let theirs = try await PanelBrowser.loggedIn(client, as: "owner")
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/accounts/\(owner)"
                #expect(try await browser.get("\(path)/disable").text.contains("logged out on every device"))
                #expect(try await browser.post("\(path)/disable").status == 303)
                #expect(try await theirs.get("/panel").status == 303, "It redirects to the log-in.")
                #expect(try await PanelBrowser(client).logIn(as: "owner").status == 401)
                #expect(try await browser.get(path).text.contains("disabled"))
                #expect(try await browser.post("\(path)/enable").status == 303)
                #expect(try await PanelBrowser(client).logIn(as: "owner").status == 303)
                #expect(try await theirs.get("/panel").status == 303, "Ended log-ins stay ended.")
            }
        }
    }

    @Test("a user's log-ins can be ended one at a time or all together")
    func logins() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try #require(fixture.users["owner"])
                let theirs = [
                    try await PanelBrowser.loggedIn(client, as: "owner"),
                    try await PanelBrowser.loggedIn(client, as: "owner"),
                    try await PanelBrowser.loggedIn(client, as: "owner"),
                ]
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/accounts/\(owner)"
                let page = try await browser.get(path).text
                let links = page.matches(of: /action="([^"]+\/logins\/[0-9a-f]{24}\/end)"/).map { String($0.1) }
                #expect(links.count == 3)
                let link = try #require(links.first)
                #expect(try await browser.post(link).status == 303)
                #expect(try await browser.post(link).status == 404)
                var left = 0
                for browser in theirs { left += try await browser.get("/panel").status == 200 ? 1 : 0 }
                #expect(left == 2)
                #expect(try await browser.post("\(path)/logins/end").status == 303)
                for browser in theirs { #expect(try await browser.get("/panel").status == 303) }
                #expect(try await browser.get(path).text.contains("Nobody is logged in"))
            }
        }
    }

    @Test("an account whose user is in the trash can't be enabled directly, and nobody can disable themselves")
    func guards() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let attendee = try #require(fixture.users["attendee"])
                let own = try #require(fixture.users["superAdmin"])
                try await fixture.pool.query(
                    "SELECT tombolo.trash('User', $1, NULL, NULL)", [.text(attendee.stringValue)])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.post("/panel/accounts/\(attendee)/enable").status == 409)
                #expect(try await browser.post("/panel/accounts/\(own)/disable").status == 422)
                #expect(try await browser.get("/panel").status == 200)
            }
        }
    }

    @Test("an admin can look but not change anything; others see no accounts")
    func access() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let owner = try #require(fixture.users["owner"])
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let page = try await admin.get("/panel/accounts/\(owner)")
                #expect(page.status == 200 && !page.text.contains("/disable") && !page.text.contains("/end\""))
                for path in ["disable", "enable", "logins/end", "logins/\(owner)/end"] {
                    #expect(try await admin.post("/panel/accounts/\(owner)/\(path)").status == 403, "\(path)")
                }
                for role in ["owner", "attendee"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await browser.get("/panel/accounts").status == 403)
                    #expect(try await browser.get("/panel/accounts/\(owner)").status == 403)
                }
                for id in ["x", "ffffffffffffffffffffffff"] {
                    #expect(try await admin.get("/panel/accounts/\(id)").status == 404)
                }
            }
        }
    }
}
