import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct ExportPagesTests {
    @Test(
        "a list is saved as a file with its search, filters, order and columns, and nothing that its reader can't see")
    func export() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                let list = try await browser.get(
                    "/panel/data/sessions?q=talk&sort=-title&columns=title&page[size]=1&page[number]=2"
                ).text
                let link = try #require(list.firstMatch(of: /href="(\/panel\/export\/sessions\?[^"]+format=csv)"/))
                let file = try await browser.get(String(link.1).replacing("&amp;", with: "&"))
                #expect(file.status == 200 && file.text == "id,title\n" + fixture.rows(of: [2, 1, 0]), "\(file.text)")
                #expect(file.headers[.contentDisposition] == #"attachment; filename="sessions.csv""#)
                let found = try await browser.get("/panel/export/sessions?q=talk%202&format=ndjson").text
                #expect(found.split(separator: "\n").count == 1 && found.contains("Talk 2") && found.contains("state"))
                let all = try await browser.get("/panel/export/sessions?format=json").text
                #expect(all.contains("Talk 3") && !all.contains("Secret"))
                for wrong in ["format=exe", "filter[nothing]=1", "columns=nothing", "formulas=x"] {
                    #expect(try await browser.get("/panel/export/sessions?\(wrong)").status == 400, "\(wrong)")
                }
                let nobody = PanelBrowser(client)
                let refused = try await nobody.get("/panel/export/sessions?format=csv")
                #expect(refused.status == 303 && !refused.text.contains("Talk"))
            }
        }
    }
}

extension ExportPagesTests {
    @Test("if a list has links, a checkbox adds their targets' titles to the export")
    func titles() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "organizer")
                let list = try await browser.get(
                    "/panel/data/sessions?q=talk%202&columns=title,room&filter[event]=\(fixture.event)&page[size]=25"
                ).text
                #expect(list.contains("Add the titles of linked objects"))
                let form = try #require(
                    list.firstMatch(of: /action="\/panel\/export\/sessions">(.*?)<\/form>/.dotMatchesNewlines())
                ).1
                let fields = PanelRecordTests.fields(String(form))
                #expect(fields["q"] == "talk 2" && fields["titles"] == "true" && fields["format"] == "csv")
                #expect(fields["page[size]"] == nil)
                let query = fields.map { "\(PanelBrowser.encode($0.key))=\(PanelBrowser.encode($0.value))" }
                let file = try await browser.get("/panel/export/sessions?\(query.joined(separator: "&"))")
                let session = fixture.sessions[1]
                #expect(file.text == "id,room,room.title,title\n\(session),\(fixture.room),Main Hall,Talk 2\n")
                // Events have no links.
                let events = try await browser.get("/panel/data/events").text
                #expect(!events.contains("Add the titles of linked objects"))
            }
        }
    }
}

extension ServiceFixture {
    /// Lines of a file with the ids and titles of some sessions.
    fileprivate func rows(of places: [Int]) -> String {
        places.map { "\(sessions[$0].stringValue),Talk \($0 + 1)\n" }.joined()
    }
}
