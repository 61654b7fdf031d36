import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Synchronization
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

@Suite struct PanelListTests {
    @Test("a list shows, searches, sorts, filters and pages what the caller may read")
    func list() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let all = try await browser.get("/panel/data/sessions")
                #expect(all.status == 200)
                for text in ["Talk 1", "Talk 2", "Talk 3", "Sessions: 1–3 of 3", "Island Days"] {
                    #expect(all.text.contains(text), "\(text)")
                }
                let found = try await browser.get("/panel/data/sessions?q=tALK%202").text
                #expect(found.contains("Talk 2") && !found.contains("Talk 1"))
                let sorted = try await browser.get("/panel/data/sessions?sort=-title&page[size]=2").text
                #expect(sorted.contains("Talk 3") && sorted.contains("Talk 2") && !sorted.contains("Talk 1"))
                #expect(sorted.contains(#"aria-sort="descending""#) && sorted.contains("Page 1 of 2"))
                let second = try await browser.get("/panel/data/sessions?sort=-title&page[size]=2&page[number]=2").text
                #expect(second.contains("Talk 1") && !second.contains("Talk 3"))
                let filtered = try await browser.get("/panel/data/sessions?filter[state]=pending").text
                #expect(filtered.contains("Talk 3") && !filtered.contains("Talk 1"))
                #expect(filtered.contains("Remove the filter: State is pending"))
                let none = try await browser.get("/panel/data/sessions?q=nothing%20like%20it")
                #expect(none.status == 200 && none.text.contains("No sessions match."))
                for wrong in [
                    "filter[nothing]=1", "sort=nothing", "page[size]=0", "columns=nothing",
                    "q=\(String(repeating: "x", count: 200))",
                ] {
                    #expect(try await browser.get("/panel/data/sessions?\(wrong)").status == 400, "\(wrong)")
                }
            }
        }
    }

    @Test("text of any length keeps nobody from seeing a list, in any order")
    func longTexts() async throws {
        try await ServiceFixture.with { fixture in
            // Together, these exceed what a list reads.
            try await fixture.pool.query(
                "UPDATE session SET title = 'Long talk' || repeat('x', 4000000), subtitle = repeat('y', 4000000)")
            try await fixture.pool.query("UPDATE event SET name = name || repeat('z', 9000000)")
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                for query in ["", "?sort=title", "?sort=-subtitle&page[size]=1", "?columns=subtitle,event"] {
                    let list = try await browser.get("/panel/data/sessions\(query)")
                    #expect(list.status == 200, "\(query): \(list.text.prefix(500))")
                    #expect(list.text.contains("Long talkxxx") || list.text.contains("yyy"), "\(query)")
                    #expect(list.text.utf8.count < 200_000, "\(query)")
                }
            }
        }
    }

    @Test("forms without JavaScript redirect to the address of their result")
    func canonical() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let filter = try await browser.get(
                    "/panel/data/sessions?sort=title&add-field=title&add-test=contains&add-value=Talk+1")
                #expect(
                    filter.headers[.location]
                        == "/panel/data/sessions?sort=title&filter%5Btitle%5D%5Bcontains%5D=Talk%201")
                let columns = try await browser.get(
                    "/panel/data/sessions?column%5Btitle%5D=on&column%5Broom%5D=on&set-columns=1")
                #expect(columns.headers[.location] == "/panel/data/sessions?columns=title,room")
                let shown = try await browser.get("/panel/data/sessions?columns=title,room").text
                #expect(shown.contains("Main Hall"))
            }
        }
    }

    @Test("a list can be saved under a name, for its user only, and deleting it can be undone")
    func savedViews() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let query = "filter%5Bstate%5D=pending&sort=title"
                let saved = try await browser.post(
                    "/panel/views/sessions", ["name": " Pending  \"talks\" <b> ", "query": query])
                #expect(saved.status == 303 && saved.headers[.location] == "/panel/data/sessions?\(query)")
                let list = try await browser.get("/panel/data/sessions").text
                #expect(list.contains("Pending &quot;talks&quot; &lt;b&gt;"))
                #expect(list.contains("filter%5Bstate%5D=pending&amp;sort=title"))
                #expect(!(try await browser.get("/panel/data/events").text.contains("Pending &quot;")))
                let other = try await PanelBrowser.loggedIn(client, as: "organizer")
                #expect(!(try await other.get("/panel/data/sessions").text.contains("Pending &quot;")))
                for bad in ["a\" onclick=\"", "a b", "<script>", String(repeating: "x", count: 5_000)] {
                    let answer = try await browser.post("/panel/views/sessions", ["name": "x", "query": bad])
                    #expect(answer.status == 400, "\(bad)")
                }
                #expect(try await browser.post("/panel/views/sessions", ["name": " ", "query": ""]).status == 422)
                try await browser.post("/panel/views/sessions/delete", ["name": "Pending \"talks\" <b>"])
                let after = try await browser.get("/panel/data/sessions").text
                #expect(after.contains("was deleted.") && after.contains("Save it again"))
                #expect(!(try await browser.get("/panel/data/sessions").text.contains("Pending")))
            }
        }
    }

    @Test("views that are saved at the same time count each other")
    func savedViewsAtOnce() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let user = try #require(fixture.users["admin"])
                try await fixture.pool.query(
                    """
                    INSERT INTO tombolo.panel_view (user_id, class, name, query)
                    SELECT $1, 'Session', 'View ' || n, '' FROM generate_series(1, $2) AS n
                    """, [.objectId(user), .int64(Int64(SavedViews.maximumCount - 1))])
                // Each save stops after counting, until the holder releases the lock.
                try await fixture.pool.execute(
                    """
                    CREATE FUNCTION hold_views() RETURNS trigger LANGUAGE plpgsql AS $$
                        BEGIN PERFORM pg_advisory_xact_lock(815); RETURN NEW; END $$;
                    CREATE TRIGGER hold BEFORE INSERT ON tombolo.panel_view
                        FOR EACH ROW EXECUTE FUNCTION hold_views()
                    """)
                let holder = try await PostgresConnection.connect(fixture.pool.configuration)
                try await holder.execute("BEGIN; SELECT pg_advisory_xact_lock(815)")
                let token = try await browser.formToken()
                let isOver = Atomic(false)
                async let statuses = {
                    defer { isOver.store(true, ordering: .sequentiallyConsistent) }
                    async let one = browser.send("/panel/views/sessions", ["name": "One", "query": ""], token: token)
                    async let other = browser.send("/panel/views/sessions", ["name": "Two", "query": ""], token: token)
                    return try await [one.status, other.status]
                }()
                // Not on the holder's connection: within a transaction, pg_stat_activity keeps showing its first snapshot.
                let waiting = """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'
                    """
                while !isOver.load(ordering: .sequentiallyConsistent),
                    try await fixture.pool.query(waiting)[0, 0].int < 2
                {
                    await Task.yield()
                }
                try await holder.execute("COMMIT")
                await holder.close()
                #expect(try await statuses.sorted() == [303, 409])
                let count = try await fixture.pool.query("SELECT count(*) FROM tombolo.panel_view")[0, 0].int
                #expect(count == SavedViews.maximumCount)
            }
        }
    }

    @Test("deleting a view with a long address is reported, in a cookie that browsers accept")
    func longView() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let fields = ["name": "Long", "query": "q=" + String(repeating: "x", count: 4_000)]
                #expect(try await browser.post("/panel/views/sessions", fields).status == 303)
                let deleted = try await browser.post("/panel/views/sessions/delete", ["name": "Long"])
                #expect(deleted.headers[values: .setCookie].allSatisfy { $0.utf8.count <= 4_096 })
                #expect(try await browser.get("/panel/data/sessions").text.contains("was deleted."))
            }
        }
    }

    @Test("nobody sees what the rules hide from them: no row, no link title, no count, no class")
    func secondUser() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                let sessions = try await browser.get("/panel/data/sessions").text
                #expect(sessions.contains("Talk 1") && !sessions.contains("Secret talk"))
                #expect(sessions.contains("of 3"))
                let found = try await browser.get("/panel/data/sessions?q=Secret").text
                #expect(!found.contains("Secret talk"))
                for path in ["/panel", "/panel/data/events", "/panel/data/tickets?q=Secret"] {
                    #expect(!(try await browser.get(path).text.contains("Secret Days")), "\(path)")
                }
            }
        }
    }

    @Test("hostile values are shown as text")
    func hostileValues() async throws {
        try await ServiceFixture.with { fixture in
            let hostile = #"<script>alert(1)</script>"' onmouseover=x {{title}} {{{contentHTML}}} "\#u{301}"#
            try await fixture.rows().set("Session", fixture.sessions[0], "title", .string(hostile))
            try await fixture.rows().set("Event", fixture.event, "websiteURL", "javascript:alert(1)")
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let paths = [
                    "/panel/data/sessions", "/panel/data/sessions?q=%3Cscript%3E%22%27",
                    "/panel/data/sessions?filter[title]=%3Cscript%3Ealert(1)%22",
                    "/panel/data/events?columns=websiteURL,name",
                    "/panel/data/%3Cscript%3E", "/panel/login?next=%22%3E%3Cscript%3E",
                ]
                for path in paths {
                    let text = try await browser.get(path).text
                    #expect(!text.contains("<script>") && !text.contains(#"href="javascript:"#), "\(path)")
                    #expect(!text.contains(#"" onmouseover"#) && !text.contains("' onmouseover"))
                }
                let shown = try await browser.get("/panel/data/sessions").text
                #expect(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; onmouseover=x {{title}}"))
                #expect(shown.contains("&quot;\u{301}"))
            }
        }
    }
}
