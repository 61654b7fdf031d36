import Foundation
import HTTPTypes
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminService

@Suite("Requests of the last days are listed for all servers")
struct KeptRequestPagesTests {
    private struct Site: Sendable {
        let fixture: ServiceFixture
        /// Of the server that serves the panel.
        let kept: KeptRequests
        /// Of another server.
        let other: KeptRequests

        func flush() async throws {
            let writer = RequestWriter(kept, logger: Logger(label: "test"))
            while await !writer.writeAll() {}
        }

        /// Writes requests of the other server, each a second older than the previous one.
        func write(_ count: Int, status: Int = 200, age: Int64 = 0) async throws {
            let now = Date().microsecondsSince1970 - age
            let entries = (0..<count).map { number in
                RequestLog.Entry(
                    time: now - Int64(number) * 1_000_000, method: "GET", route: "/api/things/{id}", status: status,
                    duration: .milliseconds(5), userID: nil, address: "192.0.2.9",
                    requestID: "other-\(status)-\(number)-")
            }
            try await RequestWriter(other, logger: Logger(label: "test")).write(entries, .random(in: 0..<1_000_000))
        }
    }

    private static func run(
        days: Int = 5, _ body: @escaping @Sendable (Site, PanelBrowser) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let pool = fixture.adminServer.pool
            let retention = RequestRetention(days: days)
            let kept = try #require(KeptRequests(retention, pool: pool))
            var other = kept
            // Servers choose their numbers at random.
            while other.server == kept.server { other = try #require(KeptRequests(retention, pool: pool)) }
            let site = Site(fixture: fixture, kept: kept, other: other)
            try await PanelBrowser.with(fixture, keptRequests: site.kept) { _, client in
                try await body(site, try await PanelBrowser.loggedIn(client, as: "superAdmin"))
            }
        }
    }

    @Test("requests of all servers are listed with a chart, and without the values in their addresses")
    func list() async throws {
        try await Self.run { site, browser in
            let session = site.fixture.sessions[0].stringValue
            _ = try await browser.get("/panel/data/sessions/\(session)?secret=hunter2")
            _ = try await browser.get("/nowhere/hunter2")
            try await site.flush()
            try await site.write(3)
            try await site.write(2, status: 502, age: 3 * 86_400_000_000)
            let latest = try await browser.get("/panel/requests").text
            for text in [
                "This server, latest", "All servers, last day", "All servers, 5 days", "The busiest minute had",
            ] {
                #expect(latest.contains(text), "\(text): \(latest)")
            }
            #expect(!latest.contains("/api/things/{id}"))
            let day = try await browser.get("/panel/requests?range=day")
            #expect(day.status == 200, "\(day.text)")
            for text in [
                "GET /panel/data/{collection}/{id}", "GET no route", "POST /panel/login", "GET /api/things/{id}",
                "The superAdmin", site.kept.server, site.other.server, "<svg role=\"img\"", "Found: ",
                "The busiest hour had", "other-200-2-",
            ] { #expect(day.text.contains(text), "\(text): \(day.text)") }
            let all = try await browser.get("/panel/requests?range=all").text
            #expect(!day.text.contains("other-502-") && all.contains("other-502-1-"))
            for text in ["hunter2", session, ServiceFixture.password] {
                #expect(!day.text.contains(text) && !all.contains(text), "\(text)")
            }
        }
    }

    @Test("a log of more than a week is counted by day, and a log of one day has no second tab")
    func days() async throws {
        try await Self.run(days: 30) { _, browser in
            let page = try await browser.get("/panel/requests?range=all").text
            #expect(page.contains("The busiest day had") && page.contains("All servers, 30 days"), "\(page)")
        }
        try await Self.run(days: 1) { _, browser in
            let page = try await browser.get("/panel/requests").text
            #expect(page.contains("All servers, last day") && !page.contains("All servers, 1 day"), "\(page)")
        }
    }

    @Test("the list can be filtered, and stays filtered from page to page")
    func filters() async throws {
        try await Self.run { site, browser in
            _ = try await browser.get("/panel/help")
            try await site.flush()
            try await site.write(130)
            try await site.write(1, status: 403)
            try await site.write(1, status: 503)
            func page(_ query: String) async throws -> String {
                let answer = try await browser.get("/panel/requests?range=day&\(query)")
                #expect(answer.status == 200, "\(query): \(answer.text)")
                return answer.text
            }
            let failed = try await page("show=failed")
            #expect(failed.contains("other-503-0-") && !failed.contains("other-403-") && !failed.contains("other-200-"))
            let refused = try await page("show=refused&address=192.0.2.9")
            #expect(refused.contains("other-403-0-") && !refused.contains("other-503-"))
            #expect(try await page("request=other-200-7-").contains("<code>other-200-7-</code>"))
            #expect(try await page("show=slow&route=/api/things").contains("No requests match."))
            #expect(try await page("user=nobody@example.org").contains("No requests match."))
            let mine = try await page("user=superadmin@example.org")
            #expect(mine.contains("GET /panel/help<") && !mine.contains("other-"), "\(mine)")
            let own = try await page("server=\(site.kept.server)")
            #expect(own.contains("GET /panel/help<") && !own.contains("other-"), "\(own)")

            let first = try await page("route=/api/things&method=GET&server=\(site.other.server)")
            #expect(first.contains("other-200-0-") && !first.contains("other-200-129-"))
            let link = try #require(first.firstMatch(of: /<a rel="next" href="([^"]+)">/)).1
            let second = try await browser.get(PanelBrowser.decoded(String(link))).text
            #expect(second.contains("other-200-129-") && !second.contains("other-200-0-"), "\(second)")
            #expect(second.contains(">Newest<") && !second.contains("rel=\"next\""))
        }
    }

    @Test("a server's latest requests can be filtered as well")
    func latest() async throws {
        try await Self.run { _, browser in
            _ = try await browser.get("/panel/help")
            _ = try await browser.get("/nowhere")
            let help = try await browser.get("/panel/requests?route=/panel/help").text
            #expect(help.contains("GET /panel/help<") && !help.contains("GET no route"), "\(help)")
            let refused = try await browser.get("/panel/requests?show=refused").text
            #expect(refused.contains("GET no route") && !refused.contains("GET /panel/help<"), "\(refused)")
            #expect(try await browser.get("/panel/requests?method=DELETE").text.contains("No requests match."))
        }
    }

    @Test("invalid parameters are refused")
    func problems() async throws {
        try await Self.run { _, browser in
            for query in [
                "range=week", "range=day&show=x", "range=day&after=x", "range=day&after=-1.2", "page=99",
                "range=all&route=\(String(repeating: "x", count: 201))", "range=all&address=%00",
            ] {
                let answer = try await browser.get("/panel/requests?\(query)")
                #expect(answer.status == 400, "\(query)")
            }
        }
    }

    @Test("a server that keeps no requests says so, and doesn't offer the list")
    func without() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let page = try await browser.get("/panel/requests").text
                #expect(!page.contains("All servers"), "\(page)")
                for range in ["day", "all"] {
                    #expect(try await browser.get("/panel/requests?range=\(range)").status == 400)
                }
            }
        }
    }

    @Test("users who may not inspect see no requests")
    func access() async throws {
        try await Self.run { site, browser in
            try await site.write(1)
            for role in ["admin", "owner", "attendee"] {
                let other = try await PanelBrowser.loggedIn(browser.client, as: role)
                for range in ["day", "all"] {
                    let answer = try await other.get("/panel/requests?range=\(range)")
                    #expect(answer.status == 403 && !answer.text.contains("other-200-0-"), "\(role)")
                }
            }
        }
    }

    @Test("files that pages load automatically aren't logged unless they're missing")
    func assets() async throws {
        try await Self.run { _, browser in
            let page = try await browser.get("/panel/help").text
            let asset = try #require(page.firstMatch(of: /"(\/panel\/assets\/[^"]+\.css)"/)).1
            #expect(try await browser.get(String(asset)).status == 200)
            let before = try await browser.get("/panel/requests").text
            #expect(!before.contains("/panel/assets/{name}"), "\(before)")
            #expect(try await browser.get("/panel/assets/none").status == 404)
            #expect(try await browser.get("/panel/requests").text.contains("/panel/assets/{name}"))
        }
    }

    @Test("the page says how many requests are missing from the log")
    func dropped() async throws {
        try await Self.run { site, browser in
            let before = try await browser.get("/panel/requests").text
            site.kept.log.giveUp(1_234)
            let after = try await browser.get("/panel/requests").text
            #expect(!before.contains("missing from the log"))
            #expect(after.contains("1,234 requests to this server are missing from the log"), "\(after)")
        }
    }
}
