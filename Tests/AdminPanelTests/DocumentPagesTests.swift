import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite struct DocumentPagesTests {
    @Test("changing a box adds a version to the history, with who changed it and the changed line")
    func history() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let before = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let wish = [
                    "role": "moderator", "service": "tracks", "operation": "create", "allowed": "true",
                    "version": "\(before)",
                ]
                #expect(try await browser.post("/panel/permissions/box?app=conference", wish).status == 303)
                let after = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let list = try await browser.get("/panel/documents").text
                #expect(list.contains("/panel/documents/\(after)?against=\(before)") && list.contains("The superAdmin"))
                let diff = try await browser.get("/panel/documents/\(after)?against=\(before)").text
                #expect(diff.contains("1 line was added, 1 removed.") && diff.contains("tracks: cr--"))
                #expect(try await browser.get("/panel/documents/\(after)").text.contains("coorganizer:"))
            }
        }
    }

    @Test("the history shows which boxes a tool kept when it stored newer rules")
    func kept() async throws {
        try await ServiceFixture.with { fixture in
            let rules = try #require(fixture.adminModels.current.ruleDocuments["conference"])
            try await fixture.pool.execute(
                DocumentTable.insertion(
                    app: "conference", kind: .rules, content: rules + "# Newer.\n", applied: rules,
                    note: "Kept 1 box: '<owner>'."))
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let list = try await browser.get("/panel/documents").text
                #expect(list.contains("a tool<br><small>Kept 1 box:") && list.contains("&lt;owner&gt;"), "\(list)")
            }
        }
    }

    @Test(
        "versions that don't exist or don't belong together aren't found",
        arguments: ["0", "x", "9999999999999999999999", "-1", "1?against=x", "1?against=2", "2?against=1"])
    func hostile(path: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                #expect(try await browser.get("/panel/documents/\(path)").status == 404)
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                #expect(try await owner.get("/panel/documents/\(path)").status == 403)
            }
        }
    }
}
