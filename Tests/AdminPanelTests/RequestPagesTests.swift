import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct RequestPagesTests {
    @Test("requests are listed with their routes and users, and without the values in their addresses")
    func list() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let session = fixture.sessions[0].stringValue
                _ = try await browser.get("/panel/data/sessions/\(session)?secret=hunter2")
                _ = try await browser.get("/panel/data/sessions/\(ObjectId.generate())")
                _ = try await browser.get("/nowhere/hunter2")
                _ = try await browser.get("/api/sessions?filter[title][eq]=hunter2", headers: [.accept: "*/*"])
                let answer = try await browser.get("/panel/requests")
                #expect(answer.status == 200, "\(answer.text)")
                for text in [
                    "GET /panel/data/{collection}/{id}", "GET no route", "The superAdmin", ">—<", ">404<",
                    "POST /panel/login", "<svg role=\"img\"", "In the last 60 minutes:",
                ] { #expect(answer.text.contains(text), "\(text): \(answer.text)") }
                for text in ["hunter2", session, ServiceFixture.password] {
                    #expect(!answer.text.contains(text), "\(text)")
                }
                let id = try #require(answer.headers[HTTPField.Name("X-Request-Id")!])
                #expect(try await browser.get("/panel/requests").text.contains(id))
                #expect(
                    try await browser.get("/panel/requests?show=failed").text.contains("None since the server started"))
                #expect(try await browser.get("/panel/requests?show=x").status == 400)
                #expect(try await browser.get("/panel/requests?page=99").status == 400)
            }
        }
    }

    @Test("a user who views the panel as somebody else is still logged as themselves")
    func viewing() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let attendee = try #require(fixture.users["attendee"])
                #expect(try await browser.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
                #expect(try await browser.get("/panel/data/events").status == 200)
                #expect(try await browser.get("/panel/requests").status == 403)
                #expect(try await browser.post("/panel/view-as/end").status == 303)
                let page = try await browser.get("/panel/requests").text
                #expect(page.contains("The superAdmin") && !page.contains("The attendee"), "\(page)")
            }
        }
    }

    @Test("users who may not inspect see no requests")
    func access() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                for role in ["admin", "owner", "attendee"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await browser.get("/panel/requests").status == 403, "\(role)")
                    #expect(!(try await browser.get("/panel").text.contains("/panel/requests")), "\(role)")
                }
            }
        }
    }
}
