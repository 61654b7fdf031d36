import AdminPanel
import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloServerModel

/// Changing the conference's model and rules in the panel.
@Suite struct ModelChangePagesTests {
    static let path = "/panel/models/conference"
    static let runPath = "/panel/migration"

    /// A panel that can change models.
    /// - Parameters:
    ///   - user: the database user for changes; nil for the owner.
    ///   - runs: whether requested changes are made; otherwise they keep waiting.
    static func with(
        user: (@Sendable (ServiceFixture) -> PostgresConfiguration)? = nil, runs: Bool = true,
        _ body: @escaping @Sendable (ServiceFixture, HTTPApplication, any TestClientProtocol) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            var bounds = ModelChangeBounds()
            bounds.answerPatience = runs ? .seconds(600) : .zero
            let configuration = user?(fixture) ?? fixture.pool.configuration
            let changes = ModelChanges(DatabaseMigrations(configuration), bounds: bounds)
            let models = fixture.adminModels
            let panel = AdminPanel(
                rules: models.liveRules(), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator, models: models,
                settings: ServerSettings(environment: [:]), modelChanges: changes)
            try await PanelBrowser.with(fixture, panel: panel) { app, client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if runs { group.addTask { await changes.run() } }
                    try await body(fixture, app, client)
                    group.cancelAll()
                }
            }
        }
    }

    /// The fields of a page's form, for sending it again.
    static func form(_ page: String) throws -> [String: String] {
        func area(_ name: String) throws -> String {
            let pattern = try Regex(
                "<textarea id=\"\(name)\"[^>]*>\\n(.*?)</textarea>", as: (Substring, Substring).self
            ).dotMatchesNewlines()
            return PanelBrowser.decoded(String(try #require(page.firstMatch(of: pattern)).1))
        }
        let basis = try #require(page.firstMatch(of: /name="basis" value="([^"]+)"/)).1
        return ["models": try area("models"), "rules": try area("rules"), "basis": String(basis)]
    }

    /// The form after the changes of some of the small forms.
    static func edited(
        _ browser: PanelBrowser, _ form: [String: String]? = nil, _ wishes: [String: String]...
    ) async throws -> [String: String] {
        var form = if let form { form } else { try Self.form(try await browser.get(path).text) }
        for wish in wishes {
            let answer = try await browser.post("\(path)/edit", form.merging(wish) { $1 })
            try #require(answer.status == 200, "\(answer.text)")
            form = try Self.form(answer.text)
        }
        return form
    }

    static let boat = ["wish": "addClass", "className": "Boat", "trash": "yes"]
    static let boatName = [
        "wish": "addProperty", "propertyClass": "Boat", "propertyName": "name", "propertyType": "string",
    ]
    static let motto = [
        "wish": "addProperty", "propertyClass": "Track", "propertyName": "motto", "propertyType": "string",
        "optional": "yes", "hint": "Short & sweet",
    ]
    static let boatRules = "  Boat:\n    - *superAdmin\n"

    /// The fields of the plan's form.
    static func planned(_ browser: PanelBrowser, _ form: [String: String]) async throws -> (String, [String: String]) {
        let answer = try await browser.post("\(path)/plan", form)
        try #require(answer.status == 200, "\(answer.text)")
        var fields = Dictionary(PanelBrowser.hidden(answer.text)) { first, _ in first }
        fields["_token"] = nil
        return (answer.text, fields)
    }

    static func columns(_ fixture: ServiceFixture, _ table: String) async throws -> Set<String> {
        let found = try await fixture.pool.query(
            """
            SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1
            """, [.text(table)])
        return Set(try found.map { try $0[0].string })
    }

    static func version(_ fixture: ServiceFixture) async throws -> Int64 {
        try await fixture.pool.withConnection { try await DocumentTable.version($0) }
    }

    @Test("after adding a class and a property, the plan says how, and the panel shows both without a restart")
    func adding() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            #expect(try await browser.get("/panel/documents").text.contains("href=\"\(Self.path)\""))
            let before = try await Self.version(fixture)
            var form = try await Self.edited(
                browser, nil, Self.boat, Self.boatName, Self.motto.merging(["indexed": "yes"]) { $1 })
            #expect(form["models"]?.contains("\"hint\": \"Short & sweet\"") == true)
            form["rules", default: ""] += Self.boatRules
            let (plan, fields) = try await Self.planned(browser, form)
            for text in [
                "Boat is added with 2 properties.", "Track.motto is added: string?, with an index.", "table boat",
                "column track.motto", "(outside a transaction)", "Applying it again continues", "track: 0 rows",
                "Lines added: 2. Lines removed: 0.",
            ] { #expect(plan.contains(text), "\(text): \(plan)") }
            // New rules may cost users some of their rights.
            #expect(plan.contains("name=\"agreed\"") && plan.contains("these rules decide who may do what"))
            #expect(try await browser.post("\(Self.path)/apply", fields).status == 422)
            #expect(try await Self.version(fixture) == before)
            #expect(try await Self.columns(fixture, "boat").isEmpty)

            let answer = try await browser.post("\(Self.path)/apply", fields.merging(["agreed": "yes"]) { $1 })
            #expect(answer.status == 303 && answer.headers[.location] == Self.runPath, "\(answer.text)")
            let run = try await browser.get(Self.runPath).text
            #expect(run.contains(">done<") && run.contains("previousPropertyNames()"), "\(run)")
            #expect(run.contains(/<dt>By<\/dt><dd>[^<]+<\/dd>/))
            #expect(try await Self.columns(fixture, "boat").contains("name"))
            #expect(try await Self.columns(fixture, "track").contains("motto"))
            #expect(try await browser.get("/panel").text.contains("/panel/data/boats"))
            #expect(try await browser.get("/panel/data/boats").status == 200)
            let history = try await browser.get("/panel/documents").text
            #expect(history.contains("The superAdmin"))
            let download = try await browser.get("\(Self.path)/download")
            #expect(try ModelDocument(json: download.text)["Track"]?["motto"]?.hint == "Short & sweet")
            #expect(try await Self.version(fixture) == before + 2)
        }
    }

    @Test("unless an index is built on a table in use, everything happens in one transaction")
    func atomic() async throws {
        try await Self.with { _, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(browser, nil, Self.motto)
            #expect(try await Self.planned(browser, form).0.contains("All of it happens in one transaction"))
        }
    }

    @Test("a dropped property takes a tick, is retired, and keeps its values")
    func dropping() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let before = try await Self.version(fixture)
            let form = try await Self.edited(browser, nil, ["wish": "drop", "dropped": "Session.level"])
            let (plan, fields) = try await Self.planned(browser, form)
            #expect(plan.contains("Session.level is retired") && plan.contains("Session.level: 0 rows have it."))
            let refused = try await browser.post("\(Self.path)/apply", fields)
            #expect(refused.status == 422 && refused.text.contains("Tick this first"), "\(refused.text)")
            #expect(try await Self.version(fixture) == before)
            let again = Dictionary(PanelBrowser.hidden(refused.text)) { first, _ in first }
            #expect(again["fingerprint"] == fields["fingerprint"])
            #expect(
                try await browser.post("\(Self.path)/apply", fields.merging(["agreed": "yes"]) { $1 }).status == 303)
            #expect(try await browser.get(Self.runPath).text.contains(">done<"))
            #expect(try await Self.columns(fixture, "session").contains("level"))
            #expect(fixture.adminModels.current.models["conference"]?["Session"]?["level"]?.isRetired == true)
        }
    }

    @Test("a renamed property keeps its values, and the plan says that SQL code must follow")
    func renaming() async throws {
        try await Self.with { fixture, _, client in
            let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
            let form = try await Self.edited(
                browser, nil, ["wish": "rename", "renamed": "Microlocation.name", "newName": "label"])
            let (plan, fields) = try await Self.planned(browser, form)
            #expect(plan.contains("Microlocation.label was called name."))
            #expect(plan.contains("Microlocation.label is label in SQL, formerly name."))
            _ = try await browser.post("\(Self.path)/apply", fields.merging(["agreed": "yes"]) { $1 })
            let run = try await browser.get(Self.runPath).text
            #expect(run.contains(">done<"), "\(run)")
            #expect(try await fixture.pool.query("SELECT label FROM microlocation")[0, 0].string == "Main Hall")
        }
    }
}
