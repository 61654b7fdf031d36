import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// What a form for a record and its children doesn't write: others' changes, others' rows, and whatever the rules forbid.
@Suite struct ChildRowsRefusalTests {
    @Test("rows are hidden from users who may change only the record, or only its children")
    func permissions() async throws {
        try await ChildRowsTests.run { site in
            var form = try await site.form()
            form["f.\(try ChildRowsTests.row("A", form)).name"] = "Taken"
            // Administrators may change events but not their tracks; co-organizers the other way round.
            for role in ["admin", "coorganizer"] {
                let browser = try await PanelBrowser.loggedIn(site.browser.client, as: role)
                form["_token"] = try await browser.formToken()
                let page = try await browser.get("\(site.path)/edit?with=Track.event")
                let answer = try await browser.send(site.action(), form, token: nil)
                #expect(page.status == 403 && answer.status == 403, "\(role): \(page.status), \(answer.status)")
                #expect(!(try await browser.get(site.path).text.contains("with=Track.event")), "\(role)")
            }
            let admin = try await PanelBrowser.loggedIn(site.browser.client, as: "admin")
            let plain = try await admin.get("\(site.path)/edit")
            #expect(plain.status == 200 && !plain.text.contains(#"value="Track.event""#))
            // A class that a user can't read doesn't exist for them.
            #expect(try await admin.get("\(site.path)/edit?with=SpeakerContact.event").status == 404)
            #expect(try await site.names() == ["Island Days", "A", "B"])
        }
    }

    @Test("a class that doesn't link to the record is refused, and so is a form without rows")
    func forged() async throws {
        try await ChildRowsTests.run { site in
            let form = try await site.form()
            for link in ["Track.room", "Session.track", "Nothing.event", "Track", "%3Cscript%3E", "Event._id"] {
                let page = try await site.browser.get("\(site.path)/edit?with=\(link)")
                #expect(page.status == 404 && !page.text.contains("<script>"), "\(link)")
                #expect(try await site.browser.send(site.action(link), form, token: nil).status == 404, "\(link)")
            }
            for count in ["-1", "54", "x", ""] {
                let sent = form.merging(["n._rows": count]) { $1 }
                #expect(try await site.browser.send(site.action(), sent, token: nil).status == 400, "\(count)")
            }
        }
    }

    @Test("a row of another record isn't changed, and is left out of the form that comes back")
    func foreign() async throws {
        try await ChildRowsTests.run { site in
            try await site.fixture.rows().insert("Track", ["event": .objectId(site.fixture.draft), "name": "Foreign"])
            let other = PanelRecordTests.fields(
                try await site.browser.get("/panel/rows/tracks?filter[event]=\(site.fixture.draft)").text)
            var form = try await site.form()
            let row = try ChildRowsTests.row("A", form)
            form["i.\(row)"] = other["i.0"]
            form["v.\(row)"] = other["v.0"]
            form["f.\(row).name"] = "Taken"
            form["f.\(try ChildRowsTests.row("B", form)).name"] = "B2"
            let answer = try await site.browser.send(site.action(), form, token: nil)
            #expect(answer.status == 422 && answer.text.contains("moved it elsewhere"), "\(answer.status)")
            #expect(try await site.names() == ["Island Days", "A", "B"])
            let again = PanelRecordTests.fields(answer.text)
            #expect(again["f.\(row).name"] == "Taken" && again["i.\(row)"] == nil)
            #expect(try await site.browser.send(site.action(), again, token: nil).status == 303)
            #expect(try await site.names() == ["Island Days", "A", "B2"])
            let foreign = try await site.fixture.pool.query(
                "SELECT name FROM track WHERE event = $1", [.bytea(site.fixture.draft.bytes)])
            #expect(try foreign.map { try $0[0].string } == ["Foreign"])
        }
    }

}
