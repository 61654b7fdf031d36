import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct PanelFormTests {
    @Test("a form is accepted only with its own session's token, and only from a page of this server")
    func forgedForms() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let other = try await PanelBrowser.loggedIn(client, as: "organizer")
                let own = try await browser.formToken()
                let foreign = try await other.formToken()
                for token in [nil, "", foreign, String(own.dropLast()), own + "A", "%00"] {
                    let answer = try await browser.send("/panel/logout", [:], token: token)
                    #expect(answer.status == 403, "\(token ?? "none")")
                }
                for headers: HTTPFields in [
                    [.origin: "https://evil.example"], [.origin: "null"], [.origin: "http://localhost.evil.example"],
                    [HTTPField.Name("Sec-Fetch-Site")!: "cross-site"], [HTTPField.Name("Sec-Fetch-Site")!: "same-site"],
                ] {
                    let answer = try await browser.send("/panel/logout", [:], token: own, headers: headers)
                    #expect(answer.status == 403, "\(headers)")
                }
                let wrongType = try await browser.call(
                    .post, "/panel/logout", body: #"{"_token": "x"}"#, headers: [.contentType: "application/json"])
                #expect(wrongType.status == 415)
                #expect(try await browser.get("/panel").status == 200)
                let good = try await browser.send(
                    "/panel/logout", [:], token: own, headers: [.origin: "http://localhost"])
                #expect(good.status == 303)
            }
        }
    }

    @Test("nobody can be logged in from another site's page")
    func forgedLogIn() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let fields = ["email": ServiceFixture.email("admin"), "password": ServiceFixture.password]
                for headers: HTTPFields in [
                    [:], [.origin: "https://evil.example"], [HTTPField.Name("Sec-Fetch-Site")!: "cross-site"],
                ] {
                    let answer = try await PanelBrowser(client).send(
                        "/panel/login", fields, token: nil, headers: headers)
                    #expect(answer.status == 403 && answer.headers[values: .setCookie].isEmpty)
                }
            }
        }
    }

    @Test("pages allow no scripts but the panel's, no frames and no caching")
    func headers() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                for path in ["/panel", "/panel/login", "/panel/nowhere", "/panel/data/sessions", "/panel/data/nothing"]
                {
                    let answer = try await browser.get(path)
                    let policy = try #require(answer.headers[.contentSecurityPolicy])
                    #expect(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"))
                    #expect(!policy.contains("unsafe"))
                    #expect(answer.headers[.cacheControl] == "no-store")
                    #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                    #expect(answer.headers[HTTPField.Name("Referrer-Policy")!] == "same-origin")
                    #expect(!answer.text.contains(/<script(?! src=)/) && !answer.text.contains(" style="))
                    #expect(!answer.text.contains(/\son[a-z]+=/))
                }
                let page = try await browser.get("/panel").text
                let style = try #require(page.firstMatch(of: /href="(\/panel\/assets\/[^"]+\.css)"/)).1
                let asset = try await PanelBrowser(client).get(String(style))
                #expect(asset.status == 200 && asset.headers[.contentType] == "text/css; charset=utf-8")
                #expect(asset.headers[.cacheControl]?.contains("immutable") == true)
                #expect(try await browser.get("/panel/assets/panel.css").status == 404)
            }
        }
    }

    @Test("a new object's form is filled in with what the rules demand")
    func demanded() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await fixture.pool.execute("UPDATE tombolo.account SET verified_at = now()")
                let attendee = try #require(fixture.users["attendee"])
                let browser = try await PanelBrowser.loggedIn(client, as: "attendee")
                var form = PanelRecordTests.fields(try await browser.get("/panel/new/events").text)
                #expect(form["f.creator"] == attendee.stringValue, "\(form)")
                form["f.name"] = "My own days"
                form["f.startsAt"] = "2031-05-14T09:00"
                form["f.endsAt"] = "2031-05-15T17:00"
                form["f.timezone"] = "Europe/Berlin"
                form["f.identifier"] = "own-days"
                form["f.state"] = "draft"
                form["f.privacy"] = "private"
                let made = try await browser.send("/panel/new/events", form, token: nil)
                #expect(made.status == 303, "\(made.text)")
                let owners = try await fixture.pool.query(
                    """
                    SELECT count(*) FROM role_assignment r JOIN event e ON r.event = e._id
                    WHERE e.name = 'My own days' AND r.user = $1 AND r.role = 'owner'
                    """, [.bytea(attendee.bytes)])
                #expect(try owners[0, 0].int == 1)
                // A user who may create any event can choose the creator.
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(PanelRecordTests.fields(try await admin.get("/panel/new/events").text)["f.creator"] == "")
            }
        }
    }

    @Test("a rule checked by a trigger is reported in the trigger's words, at its field")
    func raised() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let room = try await fixture.rows().insert(
                    "Microlocation", ["name": "Elsewhere", "event": .objectId(fixture.draft)])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = "/panel/data/sessions/\(fixture.sessions[2])"
                var form = PanelRecordTests.fields(try await browser.get("\(page)/edit").text)
                form["f.room"] = room.stringValue
                let refused = try await browser.send(page, form, token: nil)
                #expect(refused.status == 422 && refused.text.contains("belongs to another event."), "\(refused.text)")
                #expect(
                    refused.text.contains("Choose one of the same event.") && !refused.text.contains("links_within"))
            }
        }
    }
}
