import AdminPanel
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel

/// Entering the password again gives a session in the panel a new cookie.
@Suite struct RenewedSessionTests {
    private static let proof = ["_password": ServiceFixture.password]

    @Test("the password gives the session a new cookie, and a copy of the old one no longer works")
    func renewing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let before = try #require(browser.cookie("tombolo_panel"))
                let thief = PanelBrowser(client)
                thief.setCookie("tombolo_panel", before)
                try await PanelBrowser.ageProofs(fixture.pool)
                let asked = try await browser.post("/panel/password", ["next": "/panel/help"])
                #expect(asked.status == 403 && asked.text.contains(#"name="_password""#))
                // Neither the prompt nor a wrong password changes the session.
                #expect(try await browser.post("/panel/password", ["_password": "wrong"]).status == 403)
                #expect(browser.cookie("tombolo_panel") == before)
                #expect(try await thief.get("/panel").status == 200)

                let token = try await browser.formToken()
                let fields = Self.proof.merging(["next": "/panel/help"]) { $1 }
                let proved = try await browser.send("/panel/password", fields, token: token)
                #expect(proved.status == 303 && proved.headers[.location] == "/panel/help", "\(proved.text)")
                let header = try #require(proved.headers[values: .setCookie].first { $0.hasPrefix("tombolo_panel=") })
                for flag in ["HttpOnly", "SameSite=Lax", "Path=/"] { #expect(header.contains(flag)) }
                #expect(browser.cookie("tombolo_panel") != before)
                #expect(try await browser.get("/panel").status == 200)
                #expect(try await thief.get("/panel").headers[.location] == "/panel/login")
                // Even with the form's token, the thief can't use the password request again.
                #expect(try await thief.send("/panel/password", fields, token: token).status == 401)
                #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.panel_session").count == 1)
            }
        }
    }

    @Test("the requested action happens once, with the new cookie, and so does the next one")
    func goingOn() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/accounts/\(try #require(fixture.users["organizer"]))"
                let device = try await PanelBrowser.loggedIn(client, as: "organizer")
                try await PanelBrowser.ageProofs(fixture.pool)
                let before = browser.cookie("tombolo_panel")
                let done = try await browser.post("\(path)/logins/end", Self.proof)
                #expect(done.status == 303 && browser.cookie("tombolo_panel") != before, "\(done.text)")
                #expect(try await device.get("/panel").headers[.location] == "/panel/login")
                // The notice is sealed for the new cookie.
                let page = try await browser.get(try #require(done.headers[.location]))
                #expect(page.status == 200 && page.text.contains("All other logins were ended."), "\(page.text)")
                let renewed = browser.cookie("tombolo_panel")
                #expect(try await browser.post("\(path)/logins/end").status == 303)
                #expect(browser.cookie("tombolo_panel") == renewed)
            }
        }
    }

    @Test("the browser gets the new cookie even if the action that needed the password is refused")
    func refusal() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let own = try #require(fixture.users["superAdmin"])
                try await PanelBrowser.ageProofs(fixture.pool)
                let before = browser.cookie("tombolo_panel")
                let refused = try await browser.post("/panel/accounts/\(own)/second-factor/remove", Self.proof)
                #expect(refused.status == 422, "\(refused.text)")
                #expect(browser.cookie("tombolo_panel") != before)
                // That page's forms work with it, such as the log-out.
                let token = String(try #require(refused.text.firstMatch(of: /name="_token" value="([^"]+)"/)).1)
                let left = try await browser.send("/panel/logout", [:], token: token)
                #expect(left.status == 303 && left.headers[.location] == "/panel/login", "\(left.text)")
            }
        }
    }

    @Test("a form in another window, from before the password was entered, changes nothing and says what to do")
    func otherWindows() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
                form["f.title"] = "Typed in another window"
                #expect(try await browser.post("/panel/password", Self.proof).status == 303)
                let refused = try await browser.send(path, form, token: nil)
                #expect(refused.status == 403, "\(refused.text)")
                #expect(refused.text.contains("re-entered your password in another window"))
                #expect(refused.text.contains("load the page again"))
                let title = "SELECT title FROM session WHERE _id = $1"
                let id = PostgresParameter.bytea(fixture.sessions[0].bytes)
                #expect(try await fixture.pool.query(title, [id])[0, 0].string != "Typed in another window")
                // After reloading, the form works.
                form["_token"] = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)["_token"]
                #expect(try await browser.send(path, form, token: nil).status == 303)
                #expect(try await fixture.pool.query(title, [id])[0, 0].string == "Typed in another window")
            }
        }
    }
}
