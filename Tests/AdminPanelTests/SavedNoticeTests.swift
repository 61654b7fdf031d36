import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

@testable import AdminPanel

/// How the database changed the entered values.
@Suite struct SavedNoticeTests {
    private static func field(_ content: ResourceField.Content) -> ResourceField {
        ResourceField(name: "field", property: "field", content: content, isOptional: true)
    }

    @Test(
        "numbers and times are compared by value, and text by its characters",
        arguments: [
            (.double, 3, .double(3), true), (.int(bits: 64), 3, 4, false),
            (.float, .double(0.1), .double(0.10000000149), true),
            (.double, .double(0.1), .double(0.10000000149), false), (.decimal128, "1.50", "1.5", true),
            (.decimal128, 2, "2.00", true), (.date, "2031-05-14T09:00:00Z", "2031-05-14T09:00:00.000000Z", true),
            (.date, "2031-05-14T09:00:00Z", "2031-05-14T09:00:01.000000Z", false), (.string, "1.50", "1.5", false),
            (.string, "", .null, false), (.bool, true, true, true), (.bool, true, false, false),
            (.int(bits: 64), .null, .null, true), (.int(bits: 64), .null, 0, false),
        ] as [(PropertyType, JSON, JSON, Bool)])
    func values(type: PropertyType, one: JSON, other: JSON, isSame: Bool) {
        #expect(Self.field(.value(column: 0, type: type)).isSame(one, other) == isSame)
        #expect(Self.field(.values(elements: 0, type: type)).isSame([one, one], [one, other]) == isSame)
        let member = Self.field(.value(column: 0, type: type))
        let objects = Self.field(.objects(elements: 0, fields: [member]))
        #expect(objects.isSame([["field": one]], [["id": "new", "field": other]]) == isSame)
        #expect(!objects.isSame([["field": one]], []))
        let embedded = Self.field(.embedded(column: 0, fields: [member]))
        #expect(embedded.isSame(["field": one], ["field": other]) == isSame)
        #expect(!embedded.isSame(["field": one], .null))
    }

    @Test("after saving and creating, the notice lists the values that the database replaced")
    func replaced() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "owner")
                let path = "/panel/data/sessions/\(fixture.sessions[0])"
                var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
                form["f.isPublic"] = "false"
                form["f.endsAt"] = "2031-05-14T17:00"
                form["f.title"] = "As entered"
                #expect(try await browser.send(path, form, token: nil).status == 303)
                let saved = try await browser.get(path).text
                #expect(saved.contains("Saved. &#39;Is public&#39; is Yes: the database sets it itself."), "\(saved)")

                form = PanelRecordTests.fields(try await browser.get("/panel/new/tracks?f.event=\(fixture.event)").text)
                form["f.name"] = "Track of tests"
                form["f.isPublic"] = "false"
                let made = try await browser.send("/panel/new/tracks", form, token: nil)
                let track = try #require(made.headers[.location], "\(made.text)")
                let created = try await browser.get(track).text
                #expect(created.contains("Created. &#39;Is public&#39; is Yes: the database sets it itself."))
            }
        }
    }

    @Test("values stored as entered aren't mentioned, whatever their type")
    func unmentioned() async throws {
        try await StructuredFormTests.run { site in
            let ann = try await site.fixture.sailor("Ann")
            var form = try await site.form("/panel/new/ships")
            form["f.name"] = "Gorch"
            form["f.kind"] = "tug"
            for button in ["set home", "add holds", "add tags"] {
                form = try await site.press(button, "/panel/new/ships", form)
            }
            form["f.home.town"] = "Kiel"
            form["f.home.opensAt"] = "2026-05-14T13:22"
            form["f.holds.0.label"] = "fore"
            form["f.holds.0.volume"] = "1.50"
            form["f.tags.0"] = "a"
            form["a.crew"] = ann.stringValue
            let id = try await site.fixture.ship(site.client, [:])
            let path = "/panel/data/ships/\(id)"
            var sent = form.filter { !$0.key.hasPrefix("was.") }
            sent["_version"] = try await site.form("\(path)/edit")["_version"]
            let answer = try await site.browser.send(path, sent, token: nil)
            #expect(answer.status == 303, "\(answer.text)")
            let page = try await site.browser.get(path).text
            #expect(page.contains("Saved.") && !page.contains("the database sets"), "\(page)")
        }
    }
}
