import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// Somebody else's changes to a record or to the rows in its form are shown, and never overwritten unseen.
@Suite struct ConflictPageTests {
    @Test("somebody else's change of the record is shown beside the user's, and the form's rows are kept")
    func record() async throws {
        try await ChildRowsTests.run { site in
            var form = try await site.form()
            try await site.fixture.rows().set("Event", site.fixture.event, "name", "Theirs <i>")
            try await site.fixture.rows().set("Event", site.fixture.event, "locationName", "Harbour")
            form["f.name"] = "Mine"
            form["f.\(try ChildRowsTests.row("A", form)).name"] = "Z"
            form["f.\(try ChildRowsTests.row("", form)).name"] = "New"
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 412)
            for text in [
                "or its tracks in the meantime", "Before: Island Days", "Current value: Theirs &lt;i&gt;",
                "Your value: Mine",
            ] {
                #expect(answer.text.contains(text), "\(text)")
            }
            #expect(try await site.names() == ["Theirs <i>", "A", "B"])
            var again = PanelRecordTests.fields(answer.text)
            #expect(again["f.name"] == nil, "the user has to choose")
            again["f.name"] = "Mine"
            #expect(try await site.browser.send(site.action(), again, token: nil).status == 303)
            #expect(try await site.names() == ["Mine", "B", "New", "Z"])
            let place = try await site.fixture.pool.query(
                "SELECT location_name FROM event WHERE _id = $1", [.bytea(site.fixture.event.bytes)])
            #expect(try place[0, 0].string == "Harbour")
        }
    }

    @Test("somebody else's change of a row is shown beside the user's, with the row's name")
    func row() async throws {
        try await ChildRowsTests.run { site in
            var form = try await site.form()
            try await site.fixture.pool.execute("UPDATE track SET name = 'Theirs', details = 'Also' WHERE name = 'A'")
            form["f.name"] = "Mine"
            let row = try ChildRowsTests.row("A", form)
            form["f.\(row).name"] = "Z"
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 412, "\(answer.text)")
            for text in [
                "Track &#39;A&#39;: Name (changed by both of you)", "Before: A", "Current value: Theirs",
                "Your value: Z", "Track &#39;A&#39;: Details",
            ] {
                #expect(answer.text.contains(text), "\(text)")
            }
            #expect(!answer.text.contains("Track &#39;B&#39;"))
            #expect(try await site.names() == ["Island Days", "B", "Theirs"])
            var again = PanelRecordTests.fields(answer.text)
            #expect(again["f.\(row).details"] == "Also" && again["f.name"] == "Mine")
            again["f.\(row).name"] = "Z"
            #expect(try await site.browser.send(site.action(), again, token: nil).status == 303)
            #expect(try await site.names() == ["Mine", "B", "Z"])
            let details = try await site.fixture.pool.query("SELECT details FROM track WHERE name = 'Z'")[0, 0]
            #expect(try details.string == "Also")
        }
    }

    @Test(
        "if a form has a conflict and a mistake, the conflict is reported in the form, where the mistake can be fixed")
    func mistake() async throws {
        try await ChildRowsTests.run { site in
            var form = try await site.form()
            try await site.fixture.pool.execute("UPDATE track SET name = 'Theirs', details = 'Also' WHERE name = 'A'")
            form["f.\(try ChildRowsTests.row("A", form)).name"] = "Z"
            let new = try ChildRowsTests.row("", form)
            form["f.\(new).details"] = "Without a name"
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 422 && answer.text.contains("Current value: Theirs"), "\(answer.text)")
            #expect(answer.text.contains(#"id="w-f-\#(new).name""#))
            var again = PanelRecordTests.fields(answer.text)
            #expect(again["f.\(try ChildRowsTests.row("Z", again)).details"] == "Also")
            again["f.\(new).name"] = "Named"
            #expect(try await site.browser.send(site.action(), again, token: nil).status == 303)
            #expect(try await site.names() == ["Island Days", "B", "Named", "Z"])
        }
    }

    @Test("a refused choice loses nothing of the rest of the form")
    func refusedChoice() async throws {
        try await ChildRowsTests.run { site in
            var form = PanelRecordTests.fields(try await site.browser.get("\(site.path)/edit").text)
            try await site.fixture.rows().set("Event", site.fixture.event, "name", "Theirs")
            form["f.name"] = "Mine"
            let conflict = try await site.browser.send(site.path, form, token: nil)
            #expect(conflict.status == 412, "\(conflict.text)")
            var again = PanelRecordTests.fields(conflict.text)
            again["f.name"] = "Mine"
            again["f.startsAt"] = "yesterday"
            let refused = try await site.browser.send(site.path, again, token: nil)
            #expect(refused.status == 422, "\(refused.text)")
            let shown = PanelRecordTests.fields(refused.text)
            for name in ["f.identifier", "f.timezone", "f.endsAt", "f.state"] {
                #expect(shown[name] == form[name], "\(name)")
            }
        }
    }
}
