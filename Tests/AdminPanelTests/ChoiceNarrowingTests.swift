import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

@testable import AdminPanel

/// A session's room, track and speakers belong to its event.
@Suite struct ChoiceNarrowingTests {
    /// The titles that a chooser offers, by id; empty if the page doesn't have this chooser.
    static func options(_ page: String, _ name: String) -> [String: String] {
        let pattern = /<select[^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/.dotMatchesNewlines()
        let select = page.matches(of: pattern).first { $0.1 == name }
        let options = select.map { String($0.2).matches(of: /<option value="([^"]+)"[^>]*>([^<]*)</) } ?? []
        return Dictionary(options.map { (String($0.1), String($0.2)) }) { first, _ in first }
    }

    @Test("a form narrows the links that the database keeps within an event, and lists of such links")
    func links() async throws {
        try await ServiceFixture.with { fixture in
            let view = try fixture.view(as: "superAdmin")
            var columns: Set<String> = []
            var lists: Set<String> = []
            for type in view.types.all {
                for field in view.fields(of: type) {
                    let shared = ChoiceNarrowing.shared(by: field, of: type, view)
                    guard !shared.isEmpty else { continue }
                    #expect(shared.map(\.own.name) == ["event"], "\(type.name).\(field.name)")
                    if let column = field.column {
                        columns.insert("\(type.item.table).\(type.item.columns[column].sqlName)")
                    } else if let elements = field.elements.map({ view.schema[$0] }) {
                        lists.insert("\(elements.table).\(elements.columns[ElementColumn.target].sqlName)")
                    }
                }
            }
            let kept = try await fixture.pool.query(
                """
                SELECT c.relname || '.' || a.attname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (t.tgattr)
                WHERE t.tgname = 'tombolo_within_event' AND a.attname NOT IN ('event', 'owner')
                """)
            #expect(columns.union(lists) == Set(try kept.map { try $0[0].string }) && columns.count == 4)
            #expect(lists == ["session_speakers.target"])
        }
    }

    @Test("a form offers objects of its event, and after the event changes, objects of the new one")
    func offered() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let elsewhere: [String: Value] = ["event": .objectId(fixture.draft)]
                let hall = try await fixture.rows().insert(
                    "Microlocation", elsewhere.merging(["name": "Main Hall"]) { $1 })
                let speaker = try await fixture.rows().insert("Speaker", elsewhere.merging(["name": "Ada"]) { $1 })
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                let page = try await browser.get("\(path)/edit").text
                #expect(Self.options(page, "f.room") == [fixture.room.stringValue: "Main Hall"])
                #expect(Self.options(page, "a.speakers")[speaker.stringValue] == nil)
                #expect(page.contains("Only those of the chosen event."))
                #expect(page.contains("Determines the choices for Track, Room, Speakers."))

                var form = PanelRecordTests.fields(page)
                form["f.event"] = fixture.draft.stringValue
                form["f.title"] = "Not saved yet"
                form["_find"] = "event"
                let other = try await browser.send(path, form, token: nil)
                #expect(other.status == 200 && other.text.contains(#"value="Not saved yet""#))
                // The selected room stays, and is distinguished from the new event's room of the same name.
                #expect(
                    Self.options(other.text, "f.room") == [
                        fixture.room.stringValue: "Main Hall (Island Days)",
                        hall.stringValue: "Main Hall (Secret Days)",
                    ])
                #expect(PanelRecordTests.fields(other.text)["f.room"] == fixture.room.stringValue)
                #expect(Self.options(other.text, "a.speakers") == [speaker.stringValue: "Ada"])

                form = PanelRecordTests.fields(other.text)
                form["f.room"] = hall.stringValue
                let refused = try await browser.send(path, form, token: nil)
                #expect(refused.status == 422 && refused.text.contains("The list has a speaker of another event."))
                for (button, choice) in [
                    ("remove speakers.1", ""), ("remove speakers.0", ""), ("add speakers", speaker.stringValue),
                ] {
                    form["_do"] = button
                    form["a.speakers"] = choice
                    form = PanelRecordTests.fields(try await browser.send(path, form, token: nil).text)
                }
                let saved = try await browser.send(path, form, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
            }
        }
    }

    @Test("without an event, all objects are offered, and equal titles are followed by their event")
    func undecided() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let rows = fixture.rows()
                let hall = try await rows.insert(
                    "Microlocation", ["event": .objectId(fixture.draft), "name": "Main Hall"])
                let shed = try await rows.insert("Microlocation", ["event": .objectId(fixture.draft), "name": "Shed"])
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(
                    Self.options(try await browser.get("/panel/new/sessions").text, "f.room") == [
                        fixture.room.stringValue: "Main Hall (Island Days)",
                        hall.stringValue: "Main Hall (Secret Days)",
                        shed.stringValue: "Shed",
                    ])
                let of = try await browser.get("/panel/new/sessions?f.event=\(fixture.draft)").text
                #expect(
                    Self.options(of, "f.room") == [hall.stringValue: "Main Hall", shed.stringValue: "Shed"])
                // Nobody learns of an event, or its rooms, that the rules hide from them.
                let organizer = try await PanelBrowser.loggedIn(client, as: "organizer")
                let own = try await organizer.get("/panel/new/sessions").text
                #expect(Self.options(own, "f.room") == [fixture.room.stringValue: "Main Hall"])
                let forged = try await organizer.get("/panel/new/sessions?f.event=\(fixture.draft)").text
                #expect(!forged.contains("Shed") && !forged.contains("Secret Days"))
            }
        }
    }

    @Test("a search among many finds only objects of the event")
    func search() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let rows = fixture.rows()
                for event in [fixture.event, fixture.draft] {
                    for number in 0...RecordReader.choiceCount {
                        try await rows.insert(
                            "Track", ["event": .objectId(event), "name": .string("Track \(number) of \(event)")])
                    }
                }
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                let page = try await browser.get("\(path)/edit").text
                #expect(page.contains("Search Tracks"))
                var form = PanelRecordTests.fields(page)
                form["q.track"] = "track 7 "
                form["_find"] = "track"
                let found = try await browser.send(path, form, token: nil)
                #expect(Set(Self.options(found.text, "f.track").values) == ["Track 7 of \(fixture.event)"])
                form["q.track"] = fixture.draft.stringValue
                let none = try await browser.send(path, form, token: nil)
                #expect(none.text.contains("among those of the chosen event."))
            }
        }
    }
}
