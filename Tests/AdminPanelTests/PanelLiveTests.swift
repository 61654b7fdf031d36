import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@testable import AdminPanel

@Suite struct PanelLiveTests {
    @Test("streams are limited per user and in total: a user's newest replaces their oldest")
    func bounds() async throws {
        let bell = TickBell()
        var listenings: [TickBell.Listening] = []
        for _ in 0..<TickBell.maximumCountOfUser { listenings.append(try #require(bell.listen(user: "ann"))) }
        listenings.append(try #require(bell.listen(user: "bob")))
        #expect(bell.count == TickBell.maximumCountOfUser + 1)
        listenings.append(try #require(bell.listen(user: "ann")))
        #expect(bell.count == TickBell.maximumCountOfUser + 1)
        // The oldest stream ends after the ring that it already received.
        #expect(await listenings[0].rings.reduce(0) { count, _ in count + 1 } == 1)
        for user in 0..<TickBell.maximumCount {
            if let listening = bell.listen(user: "user \(user)") { listenings.append(listening) }
        }
        #expect(bell.count == TickBell.maximumCount && !bell.hasRoom(for: "new") && bell.listen(user: "new") == nil)
        #expect(bell.hasRoom(for: "bob"))
        listenings.append(try #require(bell.listen(user: "bob")))
        #expect(bell.count == TickBell.maximumCount)
        for listening in listenings { listening.stop() }
        #expect(bell.count == 0)
    }

    @Test("a stream reports that its page changed, but not changes that its reader may not see")
    func changes() async throws {
        try await ServiceFixture.with { fixture in
            let panel = AdminPanel(
                rules: LiveRules(fixture.rules), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator)
            try await PanelBrowser.with(fixture, panel: panel) { _, client in
                var count = 0
                for round in 1...50 where count == 0 {
                    let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                    let page = try await browser.get("/panel/data/sessions").text
                    let stream = String(try #require(page.firstMatch(of: /data-watches="([^"]+)"/)).1)
                        .replacing("&amp;", with: "&")
                    // A session of another event, which the organizer can't see.
                    try await fixture.rows().set(
                        "Session", fixture.draftSession, "title", .string("Still secret \(round)"))
                    async let answer = browser.get(stream)
                    while panel.core.bell.count < 1 { try await Task.sleep(for: .milliseconds(10)) }
                    try await Self.ring(panel, times: 2)
                    try await fixture.rows().set("Session", fixture.sessions[0], "title", .string("Changed \(round)"))
                    try await Self.ring(panel, times: 3)
                    // Logging out ends the stream, on a busy machine perhaps before it has checked for changes.
                    try await browser.post("/panel/logout")
                    while panel.core.bell.count > 0 { try await Self.ring(panel, times: 1) }
                    let text = try await answer.text
                    count = text.split(separator: "\n").count { $0 == "event: changed" }
                    #expect(count <= 1 && text.contains("event: ended"), "\(text)")
                }
                #expect(count == 1)
            }
        }
    }

    @Test("a stream ends with the cookie that opened it, and says whether the session continues")
    func renewing() async throws {
        try await ServiceFixture.with { fixture in
            let panel = AdminPanel(
                rules: LiveRules(fixture.rules), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator)
            try await PanelBrowser.with(fixture, panel: panel) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                async let answer = browser.get("/panel/events/sessions")
                while panel.core.bell.count < 1 { try await Task.sleep(for: .milliseconds(10)) }
                try await browser.post("/panel/password", ["_password": ServiceFixture.password])
                while panel.core.bell.count > 0 { try await Self.ring(panel, times: 1) }
                let text = try await answer.text
                #expect(text.contains("event: renewed") && !text.contains("event: ended"), "\(text)")
            }
        }
    }

    @Test("a stream takes a session and the permission for its page")
    func access() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(try await browser.get("/panel/events/nothing").status == 404)
                #expect(try await browser.get("/panel/events/sessions?sort=nothing").status == 400)
                #expect(try await PanelBrowser(client).get("/panel/events/sessions").status == 303)
            }
        }
    }

    /// Rings like ticks, allowing for the interval between a stream's checks.
    private static func ring(_ panel: AdminPanel, times: Int) async throws {
        for _ in 0..<times {
            panel.core.bell.ring()
            try await Task.sleep(for: LivePages.interval)
        }
    }
}
