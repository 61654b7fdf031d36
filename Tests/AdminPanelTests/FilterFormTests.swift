import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloJSONAPI
import TomboloModel

@testable import AdminPanel

/// Filters of a list as people enter them.
@Suite struct FilterFormTests {
    @Test(
        "numbers may have thousands separators",
        arguments: [
            ("150,000", "150000"), ("1 250", "1250"), ("-1,250,000.5", "-1250000.5"), ("12", "12"), ("0.5", "0.5"),
            ("1,25", nil), ("1,2,345", nil), ("12,34,567", nil), ("1234,567", nil),
        ] as [(String, String?)])
    func numbers(text: String, expected: String?) {
        #expect(FilterForm.number(text) == expected)
    }

    @Test(
        "times may leave out trailing zeros",
        arguments: [
            ("2031-05-14", "2031-05-14T00:00:00Z"), ("2031-05-14 13:22", "2031-05-14T13:22:00Z"),
            ("2031-05-14T13:22:18", "2031-05-14T13:22:18Z"), ("2031-05-14 13:22 UTC", "2031-05-14T13:22:00Z"),
            ("2031-05-14T13:22:18Z", "2031-05-14T13:22:18Z"), ("", nil), ("a b c", nil),
        ] as [(String, String?)])
    func times(text: String, expected: String?) {
        #expect(FilterForm.time(text) == expected)
    }

    private static func path(_ field: String, _ test: String, _ value: String, of name: String = "sessions") -> String {
        let encoded = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return "/panel/data/\(name)?add-field=\(field)&add-test=\(test)&add-value=\(encoded)"
    }

    @Test("a filter accepts what people write: a link's title, yes and no, dates and numbers")
    func words() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                for (field, test, value, name, query) in [
                    ("event", "eq", "Island Days", "sessions", "filter%5Bevent%5D=\(fixture.event)"),
                    (
                        "event", "in", "Island Days, \(fixture.draft)", "sessions",
                        "filter%5Bevent%5D%5Bin%5D=\(fixture.event),\(fixture.draft)"
                    ),
                    (
                        "event", "in", "Secret Days,Island Days,\(fixture.event),Secret Days", "sessions",
                        "filter%5Bevent%5D%5Bin%5D=\(fixture.draft),\(fixture.event),\(fixture.event),\(fixture.draft)"
                    ),
                    ("isHidden", "eq", "Yes", "tickets", "filter%5BisHidden%5D=true"),
                    ("price", "ge", "1,250", "tickets", "filter%5Bprice%5D%5Bge%5D=1250"),
                    ("title", "isNotNull", "ignored", "sessions", "filter%5Btitle%5D%5BisNull%5D=false"),
                    (
                        "startsAt", "lt", "2031-05-14 13:22", "sessions",
                        "filter%5BstartsAt%5D%5Blt%5D=2031-05-14T13%3A22%3A00Z"
                    ),
                ] {
                    let answer = try await browser.get(Self.path(field, test, value, of: name))
                    #expect(answer.headers[.location] == "/panel/data/\(name)?\(query)", "\(field): \(answer.text)")
                }
                let list = try await browser.get("/panel/data/sessions?filter%5Bevent%5D=\(fixture.event)").text
                #expect(list.contains("Remove the filter: Event is Island Days"), "\(list)")
                #expect(list.contains("Talk 1"))
            }
        }
    }

    @Test("an invalid value is reported at the form, which keeps it, and the list stays as it was")
    func problems() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                for (field, test, value, name, problem) in [
                    ("price", "contains", "1", "tickets", "Price can't be tested with 'contains'."),
                    ("price", "eq", "much", "tickets", "Price: 'much' isn't a whole number."),
                    ("event", "eq", "Nowhere Days", "sessions", "Event: there is no 'Nowhere Days' among the Events."),
                    (
                        "event", "in", "Island Days, Nowhere Days", "sessions",
                        "Event: there is no 'Nowhere Days' among the Events."
                    ),
                    ("startsAt", "gt", "tomorrow", "sessions", "Starts at: 'tomorrow' isn't a date"),
                ] {
                    let answer = try await browser.get(Self.path(field, test, value, of: name))
                    #expect(answer.status == 400, "\(field)")
                    let text = answer.text.replacing("&#39;", with: "'")
                    #expect(text.contains(problem), "\(text)")
                    #expect(text.contains("value=\"\(value)\"") && text.contains("<table"), "\(text)")
                }
                // The form can't send an unknown field.
                #expect(try await browser.get(Self.path("nothing", "eq", "1")).status == 400)
            }
        }
    }

    @Test("only objects that the caller may see are found by title, and an ambiguous title is refused")
    func titles() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let attendee = try await PanelBrowser.loggedIn(client, as: "attendee")
                let hidden = try await attendee.get(Self.path("event", "eq", "Secret Days"))
                #expect(hidden.status == 400 && hidden.text.contains("there is no"), "\(hidden.text)")
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(try await admin.get(Self.path("event", "eq", "Secret Days")).status == 303)
                try await fixture.pool.execute("UPDATE event SET name = 'Island Days' WHERE name = 'Secret Days'")
                let twice = try await admin.get(Self.path("event", "eq", "Island Days"))
                #expect(twice.status == 400 && twice.text.contains("several of the Events"), "\(twice.text)")
                let among = try await admin.get(Self.path("event", "in", "Nowhere Days,Island Days"))
                #expect(among.status == 400 && among.text.contains("several of the Events"), "\(among.text)")
            }
        }
    }

    @Test("one statement looks up any number of titles, each exactly as written")
    func manyTitles() async throws {
        try await ServiceFixture.with { fixture in
            let view = try fixture.view(as: "superAdmin")
            let pool = PostgresPool(configuration: fixture.pool.configuration, options: .patient(1))
            let reader = RecordReader(view: view, pool: pool)
            // One is longer than the titles shown; the other two are equal in Swift, but not in the database.
            let long = String(repeating: "long ", count: 50)
            var rooms: [String] = []
            for name in [long, "Caf\u{e9}", "Cafe\u{301}"] {
                let room = try await fixture.rows().insert(
                    "Microlocation", ["event": .objectId(fixture.event), "name": .string(name)])
                rooms.append(room.stringValue)
            }
            let type = try #require(view.types["microlocations"])
            let texts = ["Cafe\u{301}", "Nowhere", long, "Caf\u{e9}", "Main Hall"] + (1...500).map { "None \($0)" }
            let ids = try await reader.ids(of: type, titled: texts)
            #expect(ids.prefix(5) == [[rooms[2]], [], [rooms[0]], [rooms[1]], [fixture.room.stringValue]])
            #expect(ids.dropFirst(5).allSatisfy(\.isEmpty) && ids.count == texts.count)
            #expect(pool.waits.count == 1)
            await pool.shutdown()
        }
    }
}
