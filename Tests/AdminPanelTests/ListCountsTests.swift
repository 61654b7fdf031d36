import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// How many objects in a list have each value of the fields with few values.
@Suite struct ListCountsTests {
    private static let path = "/panel/data/sessions?counts=1"

    /// A page's counts for a field, such as `accepted 1`; nil if it doesn't count by the field.
    private static func counts(_ page: String, _ field: String) -> [String]? {
        let shown = page.components(separatedBy: "Hide counts")[0]
        let parts = shown.components(separatedBy: " id=\"counts-\(field)\">")
        guard parts.count == 2 else { return nil }
        return parts[1].components(separatedBy: "<h2")[0].matches(
            of: /<li>(?:<a [^>]*>)?([^<]*)(?:<\/a>)? <span class="quiet">([0-9]+)<\/span><\/li>/
        ).map { "\($0.1) \($0.2)" }.sorted()
    }

    @Test("on request, a list counts by its fields with few values, and its other forms and pages keep doing so")
    func asked() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let plain = try await browser.get("/panel/data/sessions").text
                #expect(!plain.contains("card counts") && plain.contains(#"href="/panel/data/sessions?counts=1""#))
                let page = try await browser.get(Self.path).text
                #expect(Self.counts(page, "event") == ["Island Days 3"], "\(page)")
                #expect(Self.counts(page, "room") == ["Main Hall 3"])
                #expect(Self.counts(page, "state") == ["accepted 1", "confirmed 1", "pending 1"])
                #expect(Self.counts(page, "isPublic") == ["Yes 3"])
                // There are no tracks, titles have arbitrary values, and a session has several speakers.
                for field in ["track", "title", "speakers", "id"] { #expect(Self.counts(page, field) == nil) }
                #expect(page.contains(#"<input type="hidden" name="counts" value="1">"#))
                #expect(page.contains(#"<a href="/panel/data/sessions">Hide counts</a>"#))
                #expect(page.contains(#"href="/panel/data/sessions?counts=1&amp;sort=title""#), "\(page)")
                #expect(!page.contains(/\/panel\/export\/sessions\?[^"]*counts/))
                let rows = try await browser.get("/panel/rows/sessions?counts=1&columns=title,state")
                #expect(rows.status == 200, "\(rows.text)")
                for query in ["q=Talk&counts=1&sort=-title&page[size]=1&page[number]=2", "counts=1&columns=title"] {
                    let other = try await browser.get("/panel/data/sessions?\(query)").text
                    #expect(Self.counts(other, "state") == ["accepted 1", "confirmed 1", "pending 1"], "\(query)")
                }
            }
        }
    }

    @Test("counts respect the search and the filters of other fields, and each value links to the list filtered by it")
    func filtered() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let found = try await browser.get("\(Self.path)&q=Talk%202").text
                #expect(Self.counts(found, "state") == ["confirmed 1"] && Self.counts(found, "room") == ["Main Hall 1"])
                for filter in ["filter[state]=pending", "filter[state][eq]=pending"] {
                    let page = try await browser.get("\(Self.path)&\(filter)").text
                    #expect(page.contains("of 1</caption>"), "\(page)")
                    #expect(Self.counts(page, "state") == ["accepted 1", "confirmed 1", "pending 1"])
                    #expect(Self.counts(page, "event") == ["Island Days 1"])
                    #expect(page.contains(#" aria-current="true">pending</a>"#))
                    #expect(!page.contains(#" aria-current="true">accepted</a>"#))
                    let link = #"<a href="/panel/data/sessions?counts=1&amp;filter%5Bstate%5D=accepted">accepted</a>"#
                    #expect(page.contains(link), "\(page)")
                }
                let several = try await browser.get(
                    "\(Self.path)&filter[state][ne]=pending&filter[state][in]=accepted,draft&filter[room]=\(fixture.room)"
                ).text
                #expect(Self.counts(several, "state") == ["accepted 1", "confirmed 1", "pending 1"])
                #expect(Self.counts(several, "isPublic") == ["Yes 1"])
                let replaced =
                    "counts=1&amp;filter%5Broom%5D=\(fixture.room)&amp;filter%5Bstate%5D=confirmed\">confirmed</a>"
                #expect(several.contains(replaced), "\(several)")
                // The chosen value is shown even with a count of 0.
                let none = try await browser.get("\(Self.path)&filter[state]=rejected").text
                #expect(Self.counts(none, "state")?.contains("rejected 0") == true, "\(none)")
                #expect(Self.counts(none, "event") == [] && none.contains("No sessions match."))
            }
        }
    }

    @Test(
        "objects without a value are counted separately, as are those linking into the trash; objects in the trash aren't counted"
    )
    func nulls() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let rows = fixture.rows()
                let ofEvent: [String: Value] = ["event": .objectId(fixture.event), "color": "#000000"]
                let gone = try await rows.insert("Track", ofEvent.merging(["name": "Gone"]) { $1 })
                let here = try await rows.insert("Track", ofEvent.merging(["name": "Here"]) { $1 })
                try await rows.set("Session", fixture.sessions[0], "track", .objectId(gone))
                try await rows.set("Session", fixture.sessions[1], "track", .objectId(here))
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let all = try await browser.get(Self.path).text
                #expect(Self.counts(all, "track") == ["Gone 1", "Here 1", "none 1"], "\(all)")
                let call = Caller(client, fixture)
                let deleted = try await call(.delete, "/api/tracks/\(gone)", as: "owner")
                #expect(deleted.status == 204, "\(deleted.text)")
                let without = try await browser.get(Self.path).text
                #expect(Self.counts(without, "track") == ["Here 1", "none 2"])
                let link = "/panel/data/sessions?counts=1&amp;filter%5Btrack%5D%5BisNull%5D=true"
                #expect(without.contains(#"<a href="\#(link)">none</a>"#), "\(without)")
                let list = try await browser.get("\(Self.path)&filter[track][isNull]=true").text
                #expect(list.contains("of 2</caption>") && list.contains(#" aria-current="true">none</a>"#))
                #expect(Self.counts(list, "track") == ["Here 1", "none 2"])
                let trashed = try await call(.post, "/admin/sessions/\(fixture.sessions[2])/trash", as: "admin")
                #expect(trashed.status == 200, "\(trashed.text)")
                let left = try await browser.get(Self.path).text
                #expect(Self.counts(left, "track") == ["Here 1", "none 1"])
                #expect(Self.counts(left, "state") == ["accepted 1", "confirmed 1"])
            }
        }
    }

    @Test("users count only what they can see, and link targets that they can't see are counted without their titles")
    func secondUser() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let attendee = try await PanelBrowser.loggedIn(client, as: "attendee")
                let seen = try await attendee.get(Self.path).text
                #expect(Self.counts(seen, "state") == ["accepted 1", "confirmed 1"], "\(seen)")
                #expect(Self.counts(seen, "event") == ["Island Days 2"] && !seen.contains("Secret"))
                let stranger = try await PanelBrowser.loggedIn(client, as: "stranger")
                let own = try await stranger.get(Self.path).text
                #expect(Self.counts(own, "state") == ["accepted 2", "confirmed 1"], "\(own)")
                #expect(Self.counts(own, "event") == ["Island Days 2", "Secret Days 1"])

                // A link made before the database kept links within events.
                try await fixture.pool.execute("ALTER TABLE session DISABLE TRIGGER tombolo_within_event")
                let rows = fixture.rows()
                let secret = try await rows.insert(
                    "Track", ["event": .objectId(fixture.draft), "name": "Secret track", "color": "#000000"])
                let here = try await rows.insert(
                    "Track", ["event": .objectId(fixture.event), "name": "Here", "color": "#000000"])
                try await rows.set("Session", fixture.sessions[0], "track", .objectId(secret))
                try await rows.set("Session", fixture.sessions[1], "track", .objectId(here))
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let page = try await owner.get("\(Self.path)&columns=title").text
                #expect(Self.counts(page, "track") == ["Here 1", "none 1", "other values 1"], "\(page)")
                #expect(!page.contains("Secret track") && !page.contains(secret.stringValue))
            }
        }
    }

    @Test("a list never counts by fields that the caller may not read, and never counts objects they may not read")
    func hidden() async throws {
        try await StructuredFormTests.run(hiding: "former") { site in
            for (kind, deck) in [("tug", .int(2)), ("tug", .null), ("ferry", .int(1))] as [(String, JSON)] {
                _ = try await site.fixture.ship(
                    site.client, ["name": "Public", "kind": .string(kind), "decks": deck])
            }
            try await site.fixture.pool.execute("UPDATE ship SET former = 'yacht'")
            try await site.fixture.pool.execute("UPDATE ship SET name = 'Hidden' WHERE kind = 'ferry'")
            let page = try await site.browser.get("/panel/data/ships?counts=1").text
            #expect(Self.counts(page, "kind") == ["tug 2"], "\(page)")
            #expect(Self.counts(page, "decks") == ["2 1", "none 1"])
            #expect(Self.counts(page, "former") == nil && !page.contains("filter%5Bformer%5D"))
        }
    }

    @Test("any other value of the parameter is refused, and JSON:API doesn't know the parameter")
    func refused() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                for query in ["counts=", "counts=2", "counts=true", "counts=1,1", "counts=1&counts=1"] {
                    for path in ["/panel/data/sessions", "/panel/rows/sessions"] {
                        let answer = try await browser.get("\(path)?\(query)")
                        #expect(answer.status == 400 && answer.text.contains("counts"), "\(path)?\(query)")
                    }
                }
                let api = try await Caller(client, fixture)(.get, "/api/sessions?counts=1", as: "owner")
                #expect(api.status == 400, "\(api.text)")
            }
        }
    }
}
