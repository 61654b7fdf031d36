import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct PanelFormTests {
    @Test("a form counts only with the token of its own session, and from a page of this server")
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

    @Test("nobody is logged in from another site's page")
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

    @Test("pages allow no script but the panel's, no frame, and are kept nowhere")
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
}
