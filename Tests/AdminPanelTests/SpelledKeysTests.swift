import AdminService
import Foundation
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

/// Keys that look the same but are spelled with different code points belong to different objects.
@Suite struct SpelledKeysTests {
    final class Port: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
    }

    final class Buoy: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
        @Persisted var port: Port?
        @Persisted var visited: List<Port>
    }

    private static let (one, other) = ("Caf\u{E9}", "Cafe\u{301}")

    private struct Site: Sendable {
        let pool: PostgresPool
        let browser: PanelBrowser

        func path(_ collection: String, _ id: String) -> String {
            "/panel/data/\(collection)/\(RequestParameters.encode(id))"
        }

        /// The texts that a query finds, compared by their bytes.
        func texts(_ sql: String) async throws -> [Value] {
            try await pool.query(sql).map { .string(try $0[0].string) }
        }
    }

    /// For each of the two keys, a port and a buoy; each buoy links to the port with the same key.
    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let models = try ModelDocument(app: "harbour", objectTypes: [Port.self, Buoy.self])
        try await HarbourFixture.with(models: models) { fixture in
            for (id, port, buoy) in [(one, "First", "A"), (other, "Second", "B")] {
                try await fixture.pool.query(
                    "INSERT INTO port (_id, name) VALUES ($1, $2)", [.text(id), .text(port)])
                try await fixture.pool.query(
                    "INSERT INTO buoy (_id, name, port) VALUES ($1, $2, $1)", [.text(id), .text(buoy)])
            }
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, models: fixture.models)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: rules, models: fixture.models,
                authenticator: fixture.authenticator, pages: { panel.add(to: $0, with: $1) })
            try await app.test(.router) { client in
                let browser = try await PanelBrowser.loggedIn(client, as: "ada")
                try await body(Site(pool: fixture.pool, browser: browser))
            }
        }
    }

    @Test("lists and records show the titles of link targets")
    func titles() async throws {
        try await Self.run { site in
            let list = try await site.browser.get("/panel/data/buoys").text
            #expect(list.contains("First") && list.contains("Second"))
            for (id, title) in [(Self.one, "First"), (Self.other, "Second")] {
                #expect(try await site.browser.get(site.path("buoys", id)).text.contains(title))
            }
        }
    }

    @Test("a form can choose its link's target, and add both to a list")
    func links() async throws {
        try await Self.run { site in
            for id in [Self.one, Self.other] {
                let page = try await site.browser.get("\(site.path("buoys", id))/edit").text
                let select = page.firstMatch(
                    of: /<select[^>]*name="f\.port"[^>]*>(.*?)<\/select>/.dotMatchesNewlines())
                let chosen = try #require(select?.1).components(separatedBy: " selected")
                #expect(chosen.count == 2, "\(page)")
                var form = PanelRecordTests.fields(page)
                for added in [Self.one, Self.other] {
                    form["a.visited"] = added
                    form["_do"] = "add visited"
                    let longer = try await site.browser.send(site.path("buoys", id), form, token: nil)
                    #expect(longer.status == 200 && !longer.text.contains("already in the list"), "\(longer.text)")
                    form = PanelRecordTests.fields(longer.text)
                }
                form["_do"] = nil
                form["f.name"] = "Changed"
                let saved = try await site.browser.send(site.path("buoys", id), form, token: nil)
                #expect(saved.status == 303, "\(saved.text)")
            }
            let ids = [Self.other, Self.one].map(Value.string)
            #expect(try await site.texts("SELECT port FROM buoy WHERE port = _id ORDER BY port") == ids)
            #expect(try await site.texts("SELECT DISTINCT target FROM buoy_visited ORDER BY 1") == ids)
            #expect(try await site.texts("SELECT target FROM buoy_visited").count == 4)
        }
    }

    @Test("rows in a record's form are saved to the right objects")
    func rows() async throws {
        try await Self.run { site in
            try await site.pool.query("UPDATE buoy SET port = $1", [.text(Self.one)])
            let path = site.path("ports", Self.one)
            var form = PanelRecordTests.fields(try await site.browser.get("\(path)/edit?with=Buoy.port").text)
            for name in ["A", "B"] { form["f.\(try ChildRowsTests.row(name, form)).name"] = "\(name) changed" }
            let saved = try await site.browser.send("\(path)?with=Buoy.port", form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            let names = try await site.texts("SELECT name FROM buoy ORDER BY octet_length(_id)")
            #expect(names == ["A changed", "B changed"].map(Value.string))
        }
    }

    @Test("text that differs only in its code points counts as changed")
    func entered() {
        var form = PanelForm()
        form.add(PanelForm.Field(name: "f.name", value: Self.other))
        form.add(PanelForm.Field(name: "was.name", value: "\"\(Self.one)\""))
        #expect(EnteredValues(form).all.count == 1)
    }
}
