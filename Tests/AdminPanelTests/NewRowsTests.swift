import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// New objects in a list's rows.
@Suite struct NewRowsTests {
    private static func names(_ fixture: ServiceFixture) async throws -> [String] {
        try await fixture.pool.query("SELECT name FROM track ORDER BY name").map { try $0[0].string }
    }

    /// The index of the first empty row in a form.
    private static func firstNew(_ form: [String: String]) throws -> Int {
        let count = try #require(form["n"].flatMap(Int.init))
        return try #require((0..<count).first { form["i.\($0)"]?.isEmpty == true })
    }

    @Test("the objects that belong to a record are edited and added in one form")
    func children() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let before = try await Self.names(fixture)
                let event = try await browser.get("/panel/data/events/\(fixture.event)").text
                let link = try #require(event.firstMatch(of: /"(\/panel\/rows\/tracks\?[^"]*)"/)?.1)
                let path = String(link)
                var form = PanelRecordTests.fields(try await browser.get(path).text)
                let new = try Self.firstNew(form)
                #expect(form["n"] == "\(new + RowsTable.newRowCount)" && form["was.\(new).name"] == nil)
                form["f.\(new).name"] = "Added <b>"
                form["f.\(new + 2).name"] = "Added, too"
                if new > 0 { form["f.0.name"] = "Another name" }
                let saved = try await browser.send(path, form, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
                let after = try await Self.names(fixture)
                #expect(after.count == before.count + 2 && after.contains("Added <b>"), "\(after)")
                #expect(new == 0 || after.contains("Another name"))
                let added = try await fixture.pool.query(
                    "SELECT count(*) FROM track WHERE name LIKE 'Added%' AND event = $1",
                    [.bytea(fixture.event.bytes)])
                #expect(try added[0, 0].int == 2, "they belong to the event that the list is filtered by")
            }
        }
    }

    @Test("refused new rows keep what was entered, and are created only once when sent again")
    func refused() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/rows/microlocations?filter[event]=\(fixture.event)&filter[room]=R&columns=name,floor"
                var form = PanelRecordTests.fields(try await browser.get(path).text)
                let new = try Self.firstNew(form)
                form["f.\(new).name"] = "Made"
                form["f.\(new + 1).name"] = "Wrong"
                form["f.\(new + 1).floor"] = "upstairs"
                let answer = try await browser.send(path, form, token: nil)
                #expect(answer.status == 422 && answer.text.contains("1 microlocation was saved."), "\(answer.text)")
                #expect(answer.text.contains("New microlocation 1"))
                var again = PanelRecordTests.fields(answer.text)
                #expect(again["i.\(new)"] != "" && again["i.\(new + 1)"] == "")
                #expect(again["f.\(new + 1).name"] == "Wrong" && again["f.\(new + 1).floor"] == "upstairs")
                again["f.\(new + 1).floor"] = "2"
                let saved = try await browser.send(path, again, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
                let rows = try await fixture.pool.query(
                    "SELECT name, floor, room FROM microlocation WHERE name IN ('Made', 'Wrong') ORDER BY name")
                #expect(try rows.map { try $0[0].string } == ["Made", "Wrong"])
                #expect(try rows[1, 1].int == 2)
                #expect(try rows.allSatisfy { try $0[2].string == "R" }, "which the list is filtered by")
            }
        }
    }

    @Test("new rows aren't offered if the columns can't provide everything that an object requires")
    func required() async throws {
        try await StructuredFormTests.run { site in
            _ = try await site.fixture.ship(site.client, ["name": "A"])
            let form = try await site.form("/panel/rows/ships?columns=name,kind")
            #expect(form["n"] == "1", "a ship needs a seal, which is bytes")
        }
    }

    @Test("nobody can create objects in a list that they may not create otherwise")
    func forbidden() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let before = try await Self.names(fixture)
                let path = "/panel/rows/tracks?filter[event]=\(ObjectId.generate())"
                var form = PanelRecordTests.fields(try await browser.get("/panel/rows/tracks").text)
                let new = try Self.firstNew(form)
                form["f.\(new).name"] = "Somebody else's"
                #expect(try await browser.send(path, form, token: nil).status == 422)
                #expect(try await Self.names(fixture) == before)
                let attendee = try await PanelBrowser.loggedIn(client, as: "attendee")
                #expect(try await attendee.get("/panel/rows/tracks").status == 403)
                #expect(try await attendee.send(path, form, token: nil).status == 403)
                #expect(try await Self.names(fixture) == before)
            }
        }
    }
}
