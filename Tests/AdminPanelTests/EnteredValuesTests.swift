import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

@testable import AdminPanel

/// Nothing that somebody typed is lost because it can't be saved.
@Suite struct EnteredValuesTests {
    private static func entered(_ fields: KeyValuePairs<String, String>) -> [String] {
        var form = PanelForm()
        for (name, value) in fields { form.add(PanelForm.Field(name: name, value: value)) }
        return EnteredValues(form).all.map { "\($0.label): \($0.text)" }
    }

    @Test("changed values are listed in order, and untouched ones aren't")
    func changes() {
        let values = Self.entered([
            "_token": "x", "_version": "1", "f.title": "New", "was.title": #""Old""#, "f.details": "a\r\nb",
            "was.details": #""a\nb""#, "f.startsAt": "2026-05-14T09:00:00",
            "was.startsAt": #""2026-05-14T09:00:00.000000Z""#, "f.isPublic": "true", "was.isPublic": "true",
            "f.price": "10", "was.price": "10", "f.room": "", "was.room": "null", "f.track": "", "was.track": #""a""#,
            "f.speakers.0": "a", "f.speakers.1": "b", "was.speakers": #"["a","b"]"#, "f.tags.0": "x",
            "was.tags": #"["x","y"]"#, "f.holds.0.label": "fore", "was.holds": #"[{"label":"fore"}]"#,
        ])
        #expect(values == ["Title: New", "Track: ", "Tags 1: x", "Holds 1, Label: fore"])
        #expect(Self.entered(["f.title": "New", "f.room": "", "q.room": "hall"]) == ["Title: New"])
        let rows = Self.entered([
            "f.0.title": "New", "was.0.title": #""Old""#, "f.1.title": "b", "was.1.title": #""b""#,
        ])
        #expect(rows == ["Row 1, Title: New"])
    }

    @Test("an element index that no form has is treated as a name, however large the number is")
    func largePlaces() {
        let values = Self.entered([
            "f.holds.9223372036854775807.label": "a", "f.-9223372036854775808": "b", "f.tags.199": "c",
        ])
        #expect(values.last == "Tags 200: c")
        #expect(values.count == 3 && values[0].hasPrefix("Holds, ") && values[0].hasSuffix("Label: a"), "\(values)")
    }

    @Test("a long original value that applies to thousands of fields is parsed once")
    func manyFields() {
        // Parsing it for each of them would exceed the test's time limit.
        let long = "[" + String(repeating: "1,", count: 200_000) + "1]"
        var form = PanelForm()
        for name in ["tags", "tags.0"] { form.add(PanelForm.Field(name: "was.\(name)", value: long)) }
        for place in 0..<1_400 {
            form.add(PanelForm.Field(name: "f.tags.\(place)", value: "x"))
            form.add(PanelForm.Field(name: "f.tags.0", value: "y"))
        }
        #expect(EnteredValues(form).all.count == 2_800)
    }

    @Test(
        "users who lose the right to change an object while typing get back what they typed, with the refusal"
    )
    func lostRight() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let hall = try await fixture.rows().insert(
                    "Microlocation", ["event": .objectId(fixture.event), "name": "Small <i>Hall</i>"])
                let browser = try await PanelBrowser.loggedIn(client, as: "coorganizer")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
                form["f.title"] = "Typed <b>for long</b>"
                form["f.room"] = hall.stringValue
                try await fixture.pool.execute("DELETE FROM role_assignment WHERE role = 'coorganizer'")
                fixture.forgetRoles()
                for button in ["remove speakers.0", nil] {
                    var sent = form
                    sent[FormAction.field] = button
                    let refused = try await browser.send(path, sent, token: nil)
                    #expect(refused.status == 403 && refused.text.contains("You may no longer change this."))
                    #expect(refused.text.contains("<dt>Title</dt><dd>Typed &lt;b&gt;for long&lt;/b&gt;</dd>"))
                    #expect(
                        refused.text.contains("<dt>Room</dt><dd>Small &lt;i&gt;Hall&lt;/i&gt;</dd>"), "\(refused.text)")
                    for field in ["State", "Starts at", "Speakers 1", "Event"] {
                        #expect(!refused.text.contains("<dt>\(field)</dt>"), "\(field)")
                    }
                }
                // Without the form's token, none of it comes back.
                var forged = form
                forged["_token"] = "x"
                let foreign = try await browser.send(path, forged, token: nil)
                #expect(foreign.status == 403 && !foreign.text.contains("Typed"))
                let title = try await fixture.pool.query(
                    "SELECT title FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])[0, 0].string
                #expect(title == "Talk 1")
            }
        }
    }

    @Test("what was entered isn't lost either if the object was removed meanwhile, or is new")
    func removed() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
                form["f.title"] = "Typed for long"
                var new = PanelRecordTests.fields(
                    try await browser.get("/panel/new/tracks?f.event=\(fixture.event)").text)
                new["f.name"] = "A new track"
                let confirm = PanelRecordTests.fields(try await owner.get("\(path)/delete").text)
                #expect(try await owner.send("\(path)/delete", confirm, token: nil).status == 303)
                let gone = try await browser.send(path, form, token: nil)
                #expect(gone.status == 404 && gone.text.contains("It was removed, or you may no longer see it."))
                #expect(gone.text.contains("<dt>Title</dt><dd>Typed for long</dd>"), "\(gone.text)")
                try await fixture.pool.execute("DELETE FROM role_assignment WHERE role = 'organizer'")
                fixture.forgetRoles()
                let refused = try await browser.send("/panel/new/tracks", new, token: nil)
                #expect(refused.status == 403 && refused.text.contains("<dt>Name</dt><dd>A new track</dd>"))
                #expect(refused.text.contains("<dt>Event</dt><dd>Island Days</dd>"), "\(refused.text)")
            }
        }
    }

    @Test("if the database is slow to return titles, users still get what they typed, with ids instead")
    func slowTitles() async throws {
        try await ServiceFixture.with { fixture in
            let view = try fixture.view(as: "superAdmin")
            let reader = RecordReader(view: view, pool: fixture.adminServer.pool)
            var form = PanelForm()
            form.add(PanelForm.Field(name: "f.room", value: fixture.room.stringValue))
            let values = EnteredValues(form)
            let titled = await values.shown(view.types["sessions"], reader)
            #expect(titled.map { $0["text"] as? String } == ["Main Hall"])
            try await fixture.pool.transaction { connection in
                try await connection.execute("LOCK TABLE microlocation IN ACCESS EXCLUSIVE MODE")
                let late = await Patience.$factor.withValue(0) { await values.shown(view.types["sessions"], reader) }
                #expect(late.map { $0["text"] as? String } == [fixture.room.stringValue])
            }
        }
    }
}
