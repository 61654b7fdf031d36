import AdminService
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRules

/// The audit log in the panel: search, history, and restoring values with an undo.
@Suite(.serialized) struct PanelAuditTests {
    private static func withLog(
        _ body:
            @Sendable (
                ServiceFixture, PanelBrowser, _ path: String, _ copy: @Sendable () async throws -> Void
            ) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let store = try await PostgresServerStore.open(schema: fixture.rules.schema, pool: fixture.pool)
            let copy: @Sendable () async throws -> Void = {
                try await store.makeLoneTick()
                try await AuditFollower(pool: fixture.adminServer.pool).catchUp()
            }
            try await copy()
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await body(fixture, browser, "/panel/audit/sessions/\(fixture.sessions[0])", copy)
            }
            await store.resign()
        }
    }

    private static func title(_ fixture: ServiceFixture) async throws -> String {
        try await fixture.pool.query("SELECT title FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])[0, 0]
            .string
    }

    @Test("an object's history shows each change, and restored values can be undone from the notice")
    func putBack() async throws {
        try await Self.withLog { fixture, browser, path, copy in
            try await fixture.rows().set("Session", fixture.sessions[0], "title", "<b>Changed</b>")
            try await copy()
            let record = try await browser.get("/panel/data/sessions/\(fixture.sessions[0])")
            #expect(record.text.contains("href=\"\(path)\""), "\(record.text)")
            let page = try await browser.get(path)
            #expect(page.status == 200, "\(page.text)")
            #expect(page.text.contains("<del>Talk 1</del>"), "\(page.text)")
            #expect(page.text.contains("<ins>&lt;b&gt;Changed&lt;/b&gt;</ins>"))
            let entry = try #require(page.text.firstMatch(of: /name="entry" value="([0-9]+)"/)?.1)
            let answer = try await browser.post("\(path)/put-back", ["entry": String(entry), "property": "title"])
            #expect(answer.status == 303, "\(answer.text)")
            #expect(try await Self.title(fixture) == "Talk 1")
            let after = try await browser.get(path)
            let undo = try #require(after.text.firstMatch(of: /name="values" value="([^"]+)"/)?.1)
            let values = String(undo).replacing("&quot;", with: "\"").replacing("&lt;", with: "<")
                .replacing("&gt;", with: ">")
            #expect(try await browser.post("\(path)/put-back", ["values": values]).status == 303)
            #expect(try await Self.title(fixture) == "<b>Changed</b>")
            try await copy()
            let history = try await browser.get(path)
            #expect(history.text.contains("The superAdmin"), "\(history.text)")
            #expect(history.text.contains("POST /panel/audit/{collection}/{id}/put-back"))
        }
    }

    @Test("the search narrows the log, and nobody sees the log unless the rules let them")
    func search() async throws {
        try await Self.withLog { fixture, browser, path, copy in
            try await fixture.rows().set("Session", fixture.sessions[0], "title", "Needle")
            try await copy()
            let found = try await browser.get("/panel/audit?class=Session&text=needle&object=&from=&to=&user=")
            #expect(found.status == 200, "\(found.text)")
            #expect(found.text.contains("Needle") && found.text.contains(path))
            let none = try await browser.get("/panel/audit?text=haystack")
            #expect(none.text.contains("No changes match"))
            #expect(try await browser.get("/panel/audit?from=yesterday").status == 400)
            #expect(try await browser.get("/panel/audit/nothing/1").status == 404)
            let other = try await PanelBrowser.loggedIn(browser.client, as: "organizer")
            for address in ["/panel/audit", path] {
                #expect(try await other.get(address).status == 403, "\(address)")
            }
            let answer = try await other.post("\(path)/put-back", ["values": #"{"title": "x"}"#])
            #expect(answer.status == 403)
            #expect(try await !other.get("/panel").text.contains("/panel/audit"))
            #expect(try await Self.title(fixture) == "Needle")
        }
    }

    /// What ends viewing as somebody else, besides its button and logging out.
    private static func expiry(
        _ fixture: ServiceFixture, _ client: any TestClientProtocol, _ copy: () async throws -> Void
    ) async throws {
        func open() async throws -> Int {
            try await fixture.pool.query("SELECT count(*) FROM tombolo.panel_viewing WHERE ended_at IS NULL")[0, 0].int
        }
        let attendee = try #require(fixture.users["attendee"])
        let begin = "UPDATE tombolo.panel_viewing SET began_at = now() - interval '2 minutes' WHERE ended_at IS NULL"
        let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
        #expect(try await browser.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
        let cookie = try #require(browser.cookie("tombolo_view"))
        #expect(try await browser.get("/panel/data/sessions").text.contains("The attendee"))
        #expect(try await browser.post("/panel/view-as/end").status == 303)
        // Once the log has a viewing's end, its cookie no longer works.
        browser.setCookie("tombolo_view", cookie)
        #expect(try await browser.get("/panel/data/sessions").text.contains("Talk 3"))
        #expect(try await open() == 0)

        // Nor does the cookie of an earlier viewing while another one is open.
        #expect(try await browser.post("/panel/view-as", ["role": "conference/moderator"]).status == 303)
        // For its first minute, a viewing stays open without its cookie. Give a slow test more time.
        try await fixture.pool.execute(
            "UPDATE tombolo.panel_viewing SET began_at = now() + interval '10 minutes' WHERE ended_at IS NULL")
        browser.setCookie("tombolo_view", cookie)
        #expect(try await browser.get("/panel/data/sessions").text.contains("Talk 3"))
        #expect(try await open() == 1, "the browser may not have its cookie yet")
        try await fixture.pool.execute(begin)
        #expect(try await browser.get("/panel").status == 200)
        #expect(try await open() == 0, "its cookie is gone")

        // An expired session, and a log-in ended from elsewhere.
        for sql in [
            "UPDATE tombolo.panel_session SET used_at = now() - interval '3 hours'",
            "UPDATE tombolo.login_session SET revoked_at = now(), end_reason = 'test' WHERE revoked_at IS NULL",
        ] {
            let other = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await other.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
            try await ViewingService.end(fixture.adminServer.authenticator)
            #expect(try await open() == 1, "it's still open")
            try await fixture.pool.execute(sql)
            try await ViewingService.end(fixture.adminServer.authenticator)
            #expect(try await open() == 0, "\(sql)")
        }
        try await copy()
        let last = try await fixture.pool.query(
            """
            SELECT after ? 'ended_at', source::text FROM tombolo.audit_entry WHERE root = 'panel_viewing'
            ORDER BY id DESC LIMIT 1
            """)
        #expect(try last[0, 0].bool && last[0, 1].string == "y")
    }

    @Test("the search accepts a user's address, and an address that nobody has finds nothing")
    func byAddress() async throws {
        try await Self.withLog { fixture, browser, _, copy in
            let organizer = try await PanelBrowser.loggedIn(browser.client, as: "organizer")
            let page = "/panel/data/sessions/\(fixture.sessions[0])"
            var form = PanelRecordTests.fields(try await organizer.get("\(page)/edit").text)
            form["f.title"] = "By the organizer"
            #expect(try await organizer.send(page, form, token: nil).status == 303)
            try await copy()
            let address = ServiceFixture.email("organizer")
            #expect(try await browser.get("/panel/audit?user=\(address)").text.contains("By the organizer"))
            let nobody = try await browser.get("/panel/audit?user=nobody@example.org")
            #expect(nobody.status == 200 && nobody.text.contains("No changes match"))
        }
    }

    @Test("a conflict shows who made the other changes and when, to users who may read the log, once it has them")
    func conflict() async throws {
        try await Self.withLog { fixture, browser, history, copy in
            let page = "/panel/data/sessions/\(fixture.sessions[0])"
            let owner = try await PanelBrowser.loggedIn(browser.client, as: "owner")
            var mine = PanelRecordTests.fields(try await browser.get("\(page)/edit").text)
            var owners = PanelRecordTests.fields(try await owner.get("\(page)/edit").text)
            (mine["f.title"], owners["f.title"]) = ("Mine", "The owner's")

            let organizer = try await PanelBrowser.loggedIn(browser.client, as: "organizer")
            var theirs = PanelRecordTests.fields(try await organizer.get("\(page)/edit").text)
            theirs["_do"] = "remove speakers.1"
            theirs = PanelRecordTests.fields(try await organizer.send(page, theirs, token: nil).text)
            theirs["f.title"] = "Theirs"
            #expect(try await organizer.send(page, theirs, token: nil).status == 303)

            // The log's newest entry is older than the form.
            let early = try await browser.send(page, mine, token: nil)
            #expect(early.status == 412 && !early.text.contains("Who changed it:"), "\(early.text)")
            #expect(early.text.contains(#/The audit log doesn't show yet who changed [^:]*Title/#), "\(early.text)")
            try await copy()
            let answer = try await browser.send(page, mine, token: nil)
            #expect(answer.status == 412 && answer.text.contains("href=\"\(history)\""))
            #expect(!answer.text.contains("doesn't show yet"))
            for field in ["Title", "Speakers"] {
                let line = try Regex("<li>The organizer, <time datetime=\"[^\"]+\">[^<]+ UTC</time>: \(field)</li>")
                #expect(answer.text.contains(line), "\(field): \(answer.text)")
            }
            let other = try await owner.send(page, owners, token: nil)
            #expect(other.status == 412 && other.text.contains("Somebody else saved this"))
            #expect(!other.text.contains("The organizer") && !other.text.contains("/panel/audit"))
            #expect(!other.text.contains("audit log"))
        }
    }

    @Test(
        "the log says who viewed as whom, from when to when, even if another viewing or the log-in's end cut it short")
    func viewing() async throws {
        try await Self.withLog { fixture, browser, _, copy in
            let attendee = try #require(fixture.users["attendee"])
            let superAdmin = try #require(fixture.users["superAdmin"])
            #expect(try await browser.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
            #expect(try await browser.post("/panel/view-as/end").status == 303)
            #expect(try await browser.post("/panel/view-as", ["role": "conference/moderator"]).status == 303)
            #expect(try await browser.post("/panel/logout").status == 303)
            // A refused attempt isn't logged as a viewing.
            let admin = try await PanelBrowser.loggedIn(browser.client, as: "admin")
            #expect(try await admin.post("/panel/view-as", ["user": "\(superAdmin)"]).status == 403)
            try await copy()
            let entries = try await fixture.pool.query(
                """
                SELECT key, user_id, after ->> 'viewed', after ? 'began_at', after ? 'ended_at', route FROM tombolo.audit_entry
                WHERE root = 'panel_viewing' ORDER BY id
                """)
            #expect(entries.count == 4)
            for row in entries {
                #expect(try row[0].string == superAdmin.stringValue)
                #expect(try row[1].string == superAdmin.stringValue)
            }
            #expect(
                try entries.map { try $0[2].nonNull?.string } == ["The attendee", nil, "the role moderator", nil])
            #expect(try entries.map { try $0[4].bool } == [true, true, true, true])
            try await Self.expiry(fixture, browser.client, copy)
            let pages = try await PanelBrowser.loggedIn(browser.client, as: "superAdmin")
            let page = try await pages.get("/panel/audit?object=\(superAdmin)")
            #expect(page.status == 200 && page.text.contains("The attendee"), "\(page.text)")
        }
    }
}
