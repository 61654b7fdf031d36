import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// An event and its tracks or tickets in one form.
@Suite struct ChildRowsTests {
    struct Site: Sendable {
        let fixture: ServiceFixture
        let browser: PanelBrowser

        var path: String { "/panel/data/events/\(fixture.event)" }
        func action(_ link: String = "Track.event") -> String { "\(path)?with=\(link)" }

        func form(_ link: String = "Track.event") async throws -> [String: String] {
            let page = try await browser.get("\(path)/edit?with=\(link)")
            try #require(page.status == 200, "\(page.text)")
            return PanelRecordTests.fields(page.text)
        }

        /// The names of the event and its tracks: `["Island Days", "A", "B"]`.
        func names() async throws -> [String] {
            try await fixture.pool.query(
                """
                SELECT name FROM (SELECT 0 AS place, name FROM event WHERE _id = $1
                    UNION ALL SELECT 1, name FROM track WHERE event = $1) n ORDER BY place, name
                """, [.bytea(fixture.event.bytes)]
            ).map { try $0[0].string }
        }
    }

    static func run(
        as role: String = "superAdmin", tracks: [String] = ["A", "B"],
        _ body: @escaping @Sendable (Site) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            for name in tracks {
                try await fixture.rows().insert(
                    "Track", ["event": .objectId(fixture.event), "isPublic": .bool(true), "name": .string(name)])
            }
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                try await body(Site(fixture: fixture, browser: browser))
            }
        }
    }

    /// The index of the row with this name, or of the first empty row.
    static func row(_ name: String, _ form: [String: String], by field: String = "name") throws -> String {
        let count = try #require(form["n._rows"].flatMap(Int.init), "\(form)")
        let number = try #require(
            (0..<count).first { form["f._rows.\($0).\(field)"] == name && form["i._rows.\($0)"] != nil }, "\(form)")
        return "_rows.\(number)"
    }

    @Test("one button saves a record and its children, and untouched rows aren't written")
    func together() async throws {
        try await Self.run { site in
            let record = try await site.browser.get(site.path).text
            #expect(
                record.contains("\(site.path)/edit?with=Track.event") && record.contains("Edit tracks with this event"))
            let plain = try await site.browser.get("\(site.path)/edit").text
            #expect(plain.contains("Edit together with:") && plain.contains(#"name="_with" value="Ticket.event""#))
            #expect(!plain.contains("n._rows"))

            var form = try await site.form()
            #expect(form["n._rows"] == "5" && form["f.event"] == nil)
            let nothing = try await site.browser.send(site.action(), form, token: nil)
            #expect(nothing.status == 303 && nothing.headers[.location] == site.path, "\(nothing.text)")
            #expect(try await site.browser.get(site.path).text.contains("Nothing was changed."))

            let untouched = try await site.fixture.pool.query("SELECT xmin::text FROM track WHERE name = 'B'")[0, 0]
                .string
            form["f.name"] = "Island Weeks"
            form["f.\(try Self.row("A", form)).name"] = "A <b>"
            form["f.\(try Self.row("", form)).name"] = "C"
            let saved = try await site.browser.send(site.action(), form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            #expect(try await site.browser.get(site.path).text.contains("Saved, with 2 tracks."))
            #expect(try await site.names() == ["Island Weeks", "A <b>", "B", "C"])
            let after = try await site.fixture.pool.query("SELECT xmin::text FROM track WHERE name = 'B'")[0, 0].string
            #expect(after == untouched)

            form = try await site.form()
            form["f.\(try Self.row("C", form)).details"] = "More"
            #expect(try await site.browser.send(site.action(), form, token: nil).status == 303)
            #expect(try await site.browser.get(site.path).text.contains("1 track was saved."))
        }
    }

    @Test(
        "rows of another class are shown along with what was entered, and rows with changes aren't discarded for them")
    func changingRows() async throws {
        try await Self.run { site in
            let plain = try await site.browser.get("\(site.path)/edit").text
            var form = PanelBrowser.hidden(plain).reduce(into: [String: String]()) { $0[$1.0] = $1.1 }
            form["f.name"] = "Half a name"
            form["_with"] = "Track.event"
            let shown = try await site.browser.send(site.path, form, token: nil)
            #expect(shown.status == 200 && shown.text.contains("New track 1"), "\(shown.text)")
            #expect(shown.text.contains(#"value="Half a name""#) && shown.text.contains("?with=Track.event"))

            form = try await site.form()
            form["_with"] = "Ticket.event"
            let others = try await site.browser.send(site.action(), form, token: nil)
            #expect(
                others.status == 200 && others.text.contains("New ticket 1") && !others.text.contains("New track 1"))
            form["f.\(try Self.row("A", form)).name"] = "Changed"
            let kept = try await site.browser.send(site.action(), form, token: nil)
            #expect(
                kept.status == 422 && kept.text.contains("The rows of tracks have unsaved changes."), "\(kept.text)")
            #expect(kept.text.contains(#"value="Changed""#))
            #expect(try await site.names()[1] == "A")
        }
    }

    @Test("new rows take over links that they share with the record, and rows of roles aren't offered")
    func sharedLinks() async throws {
        try await Self.run(as: "owner") { site in
            let path = "/panel/new/tracks?with=Session.track"
            let page = try await site.browser.get(path)
            try #require(page.status == 200, "\(page.text)")
            var form = PanelRecordTests.fields(page.text)
            form["f.name"] = "Hall track"
            form["f.event"] = site.fixture.event.stringValue
            form["f.isPublic"] = "true"
            let new = try Self.row("", form, by: "title")
            form["f.\(new).title"] = "Talk of the hall"
            form["f.\(new).state"] = "pending"
            let made = try await site.browser.send(path, form, token: nil)
            #expect(made.status == 303, "\(made.text)")
            let found = try await site.fixture.pool.query(
                "SELECT s.event = t.event FROM session s JOIN track t ON t._id = s.track WHERE s.title = 'Talk of the hall'"
            )
            #expect(try found.count == 1 && found[0, 0].bool)
            #expect(try await site.browser.get("\(site.path)/edit?with=RoleAssignment.event").status == 400)
        }
    }

    @Test("one row that can't be saved blocks the whole form, and every problem is shown at its row")
    func refused() async throws {
        try await Self.run { site in
            var form = try await site.form("Ticket.event")
            form["f.name"] = "Mine"
            let (early, student) = (try Self.row("Early", form), try Self.row("Student", form))
            let new = try Self.row("", form)
            form["f.\(early).rank"] = "a1"
            form["f.\(student).name"] = "Pupil"
            form["f.\(student).price"] = "much"
            form["f.\(new).name"] = "Added"
            let answer = try await site.browser.send(site.action("Ticket.event"), form, token: nil)
            #expect(answer.status == 422)
            for text in [
                "Nothing was saved:", ##"<a href="#f-\##(early).rank">Early, Rank</a>"##,
                ##"<a href="#f-\##(student).price">"##, ##"<a href="#f-\##(new).rank">New ticket 1, Rank</a>"##,
                #"w-f-\#(student).price" aria-invalid="true""#, "Name of New ticket 1 <span class=\"quiet\">(required)",
                #"<th scope="col">Rank <span class="quiet">(required)</span>"#,
                "has the same", #"id="w-f-\#(student).price""#, #"id="w-f-\#(new).rank""#,
            ] {
                #expect(answer.text.contains(text), "\(text)")
            }
            #expect(try await site.names()[0] == "Island Days")
            let tickets = try await site.fixture.pool.query(
                "SELECT name, rank FROM ticket WHERE event = $1 ORDER BY rank", [.bytea(site.fixture.event.bytes)])
            #expect(try tickets.map { try $0[0].string } == ["Early", "Regular", "Staff", "Student", "Supporter"])

            var again = PanelRecordTests.fields(answer.text)
            #expect(again["f.name"] == "Mine" && again["f.\(student).name"] == "Pupil")
            #expect(again["f.\(student).price"] == "much" && again["f.\(new).name"] == "Added")
            again["f.\(early).rank"] = "a0V"
            again["f.\(student).price"] = "7"
            for name in ["name", "kind", "currency", "rank"] { again["f.\(new).\(name)"] = "" }
            let saved = try await site.browser.send(site.action("Ticket.event"), again, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            #expect(try await site.names()[0] == "Mine")
            let pupil = try await site.fixture.pool.query("SELECT price FROM ticket WHERE name = 'Pupil'")
            #expect(try pupil[0, 0].int == 7)
        }
    }

    @Test("a problem with the record itself blocks the rows, and everything entered stays")
    func refusedRecord() async throws {
        try await Self.run { site in
            var form = try await site.form()
            form["f.startsAt"] = "yesterday"
            form["f.\(try Self.row("A", form)).name"] = "Z"
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 422 && answer.text.contains(#"id="w-f-startsAt""#), "\(answer.status)")
            #expect(try await site.names() == ["Island Days", "A", "B"])
            _ = try Self.row("Z", PanelRecordTests.fields(answer.text))
        }
    }

    @Test("changes that the database makes to rows when their record changes don't count as somebody else's")
    func triggers() async throws {
        try await Self.run { site in
            var form = try await site.form()
            form["f.privacy"] = "private"
            form["f.\(try Self.row("A", form)).name"] = "Z"
            let saved = try await site.browser.send(site.action(), form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            let tracks = try await site.fixture.pool.query("SELECT is_public FROM track ORDER BY name")
            #expect(try tracks.map { try $0[0].bool } == [false, false])
            #expect(try await site.names() == ["Island Days", "B", "Z"])
        }
    }

    @Test("a new record is created with its children, using the role that creating it gives")
    func new() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                try await fixture.pool.execute("UPDATE tombolo.account SET verified_at = now()")
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/new/events?with=Track.event"
                let page = try await browser.get(path)
                #expect(page.status == 200 && page.text.contains("New Tracks"), "\(page.text)")
                var form = PanelRecordTests.fields(page.text)
                #expect(form["n._rows"] == "3")
                let values = [
                    "name": "Own days", "identifier": "own-days", "startsAt": "2031-05-14T09:00",
                    "endsAt": "2031-05-15T17:00", "timezone": "UTC", "state": "draft", "privacy": "private",
                ]
                for (name, value) in values { form["f.\(name)"] = value }
                form["f._rows.0.name"] = "First"
                form["f._rows.2.details"] = "Without a name"
                let refused = try await browser.send(path, form, token: nil)
                #expect(refused.status == 422 && refused.text.contains(#"id="w-f-_rows.2.name""#), "\(refused.text)")
                #expect(!refused.text.contains("List of all"))
                let count = "SELECT (SELECT count(*) FROM event) + (SELECT count(*) FROM track)"
                #expect(try await fixture.pool.query(count)[0, 0].int == 2)

                form = PanelRecordTests.fields(refused.text)
                #expect(form["f.name"] == "Own days" && form["f._rows.0.name"] == "First")
                form["f._rows.2.name"] = "Second"
                let made = try await browser.send(path, form, token: nil)
                let location = try #require(made.headers[.location], "\(made.text)")
                #expect(try await browser.get(location).text.contains("Created, with 2 tracks."))
                let tracks = try await fixture.pool.query(
                    "SELECT t.name FROM track t JOIN event e ON e._id = t.event WHERE e.name = 'Own days' ORDER BY 1")
                #expect(try tracks.map { try $0[0].string } == ["First", "Second"])
            }
        }
    }

    @Test("a form shows 50 of many rows, says so, and links to all of them")
    func many() async throws {
        try await Self.run(tracks: (1...51).map { "T\($0)" }) { site in
            let page = try await site.browser.get("\(site.path)/edit?with=Track.event").text
            let list = "/panel/data/tracks?filter%5Bevent%5D=\(site.fixture.event)"
            #expect(page.contains("Only the first 50 are shown.") && page.contains(list))
            var form = PanelRecordTests.fields(page)
            #expect(form["n._rows"] == "53")
            form["f.startsAt"] = "yesterday"
            let refused = try await site.browser.send(site.action(), form, token: nil)
            #expect(refused.status == 422 && refused.text.contains("Only the first 50 are shown."))
        }
        try await Self.run(tracks: (1...50).map { "T\($0)" }) { site in
            let page = try await site.browser.get("\(site.path)/edit?with=Track.event").text
            #expect(!page.contains("Only the first"))
        }
    }

    @Test("a draft can be restored without saving, and still compares with the original rows")
    func draft() async throws {
        try await Self.run { site in
            func draft() async throws -> String {
                let page = try await site.browser.get("\(site.path)/edit?with=Track.event").text
                return String(try #require(page.firstMatch(of: /data-draft="([^"]*)"/)).1)
            }
            let before = try await draft()
            var form = try await site.form()
            form["f.\(try Self.row("A", form)).name"] = "Z"
            // The script sends this.
            form["_find"] = ""
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 200 && !answer.text.contains("data-fresh"))
            _ = try Self.row("Z", PanelRecordTests.fields(answer.text))
            #expect(try await site.names() == ["Island Days", "A", "B"])
            let same = try await draft()
            try await site.fixture.pool.execute("UPDATE track SET details = 'More' WHERE name = 'B'")
            let after = try await draft()
            #expect(same == before && after != before)
        }
    }
}
