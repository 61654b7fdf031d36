import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@testable import AdminPanel

/// An object can't be added to a list of links twice by mistake.
@Suite struct LinkListTests {
    private typealias Site = StructuredFormTests.Site

    private static func crew(_ site: Site, _ id: String) async throws -> [JSON?] {
        let answer = try await site.fixture.call(site.client, .get, "/api/ships/\(id)/relationships/crew")
        return answer.json["data"]?.list.map { $0["id"] } ?? []
    }

    @Test("a list of links doesn't offer objects that it already contains, and doesn't accept them again")
    func additions() async throws {
        try await StructuredFormTests.run { site in
            let ann = try await site.fixture.sailor("Ann")
            let bo = try await site.fixture.sailor("Bo")
            let id = try await site.fixture.ship(site.client, [:], crew: [ann])
            let path = "/panel/data/ships/\(id)"
            let page = try await site.browser.get("\(path)/edit").text
            #expect(ChoiceNarrowingTests.options(page, "a.crew") == [bo.stringValue: "Bo"])

            // Both with the button and when everything is saved, as by a draft or a forged form.
            var form = PanelRecordTests.fields(page)
            form["f.name"] = "Not saved yet"
            form["a.crew"] = ann.stringValue
            for button in ["add crew", nil] {
                var sent = form
                sent[FormAction.field] = button
                let refused = try await site.browser.send(path, sent, token: nil)
                #expect(refused.status == 422, "\(refused.text)")
                #expect(refused.text.contains(##"<a href="#f-crew">Crew</a>: It&#39;s already in the list."##))
                #expect(refused.text.contains(#"id="w-f-crew""#) && refused.text.contains("Not saved yet"))
            }
            form["a.crew"] = ""
            form["n.crew"] = "2"
            form["f.crew.1"] = ann.stringValue
            let forged = try await site.browser.send(path, form, token: nil)
            #expect(forged.status == 422 && forged.text.contains(##"href="#f-crew.1""##), "\(forged.text)")
            #expect(try await Self.crew(site, id) == [.string(ann.stringValue)])
        }
    }

    @Test("a chooser's search leaves out objects that the list already contains")
    func search() async throws {
        try await StructuredFormTests.run { site in
            let ann = try await site.fixture.sailor("Ann of the sea")
            let bo = try await site.fixture.sailor("Bo of the sea")
            for number in 0...RecordReader.choiceCount { _ = try await site.fixture.sailor("Sailor \(number)") }
            let id = try await site.fixture.ship(site.client, [:], crew: [ann])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            form["q.crew"] = "of the sea"
            form[EditPage.findField] = "crew"
            let found = try await site.browser.send(path, form, token: nil)
            #expect(ChoiceNarrowingTests.options(found.text, "a.crew") == [bo.stringValue: "Bo of the sea"])
        }
    }

    @Test("a list that already contains an object twice is left unchanged")
    func twice() async throws {
        try await StructuredFormTests.run { site in
            let ann = try await site.fixture.sailor("Ann")
            let bo = try await site.fixture.sailor("Bo")
            let id = try await site.fixture.ship(site.client, [:], crew: [ann, ann])
            let path = "/panel/data/ships/\(id)"
            var form = try await site.form("\(path)/edit")
            form["a.crew"] = bo.stringValue
            let saved = try await site.browser.send(path, form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            #expect(try await Self.crew(site, id) == [ann, ann, bo].map { .string($0.stringValue) })
            // A copy has the same links as the original.
            let copy = try await site.form("/panel/new/ships?copy=\(id)")
            let made = try await site.browser.send("/panel/new/ships", copy, token: nil)
            #expect(made.status == 303, "\(made.text)")
        }
    }
}
