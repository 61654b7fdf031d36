import AdminPanel
import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Properties that an app displays and edits in its own way.
@Suite struct CustomFieldsTests {
    private struct Site: Sendable {
        let fixture: HarbourFixture
        let client: any TestClientProtocol
        let panel: AdminPanel

        func browser(_ user: String = "ada") async throws -> PanelBrowser {
            try await PanelBrowser.loggedIn(client, as: user)
        }

        /// - Returns: the path of a buoy's page.
        func buoy(_ attributes: [String: JSON]) async throws -> String {
            let usual: [String: JSON] = ["name": "North", "shade": "crimson", "depth": 3]
            let all = usual.merging(attributes) { $1 }
            let made = try await fixture.call(
                client, .post, "/api/buoys", ["data": ["type": "buoys", "attributes": .object(all)]])
            let id: String? = if case .string(let text)? = made.json["data"]?["id"] { text } else { nil }
            return "/panel/data/buoys/\(try #require(id, "\(made.text)"))"
        }

        func shade() async throws -> String {
            try await fixture.pool.query("SELECT shade FROM buoy")[0, 0].string
        }
    }

    /// A page that counts buoys by the field and filter in its address.
    private struct CountPages: PanelSection {
        func add(to panel: PanelRoutes) {
            let pool = panel.pool
            panel.page("/panel/count/{field}", access: .own("panel")) { request, _ in
                let filter = request.query("filter").map { ["filter[\($0)]": "crimson"] } ?? [:]
                let rows = try request.rows(of: "Buoy", [request.parameter("field")], filter)
                let count = try await pool.query("SELECT count(*) FROM (\(rows.sql)) AS rows", rows.parameters)
                return request.page("Count", PanelTemplate("<p>{{count}} buoys</p>"), ["count": try count[0, 0].int64])
            }
        }
    }

    private static let models = """
        {"format": 1, "app": "harbour", "classes": [
        {"name": "Buoy", "trashable": true, "properties": [{"name": "_id", "type": "objectId", "primaryKey": true},
        {"name": "name", "type": "string"}, {"name": "shade", "type": "string?"}, {"name": "depth", "type": "int"}]}]}
        """

    /// `guest` may read everything about a buoy except its shade, and change everything.
    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let rules: @Sendable ([String: ObjectId]) -> String = { users in
            """
            version: 1
            Buoy:
              - name: master
                applyWhen: {"%%user.id": "\(users["ada"]?.stringValue ?? "")"}
                read: true
                write: true
              - name: guest
                applyWhen: {}
                read: true
                write: true
                fields: {shade: {read: false, write: false}}
                additional_fields: {read: true, write: true}
            """
        }
        let shade = PanelFieldStyle(
            "Buoy", "shade",
            shown: PanelTemplate(
                #"<b class="{{value}}" title="{{hex}}">{{label}} {{text}}{{#isList}} in a list{{/isList}}</b>"#),
            control: PanelTemplate(
                #"<input class="mine" id="{{id}}" name="{{name}}" value="{{value}}" title="{{hex}}"{{> described}}>"#)
        ) { json in
            // Grey is shown as usual.
            json == "grey" ? nil : ["hex": "#\(json)", "label": "not this"]
        }
        let depth = PanelFieldStyle(
            "Buoy", "depth",
            control: PanelTemplate(
                """
                <input id="{{id}}" name="{{name}}" value="{{value}}"{{> described}}>\
                {{#problem}}<em>{{problem}}</em>{{/problem}}{{#isCell}}<i>cell</i>{{/isCell}}
                """))
        let unknown = [PanelFieldStyle("Buoy", "shape"), PanelFieldStyle("Whale", "song")]
        try await HarbourFixture.with(models: try ModelDocument(json: models), rules: rules) { fixture in
            let rules = LiveRules(fixture.rules)
            let panel = AdminPanel(
                rules: rules, pool: fixture.pool, authenticator: fixture.authenticator, models: fixture.models,
                additions: PanelAdditions(pages: [CountPages()], fields: [shade, depth] + unknown))
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.pool, rules: rules, models: fixture.models,
                authenticator: fixture.authenticator, pages: { panel.add(to: $0, with: $1) })
            try await app.test(.router) { try await body(Site(fixture: fixture, client: $0, panel: panel)) }
        }
    }

    @Test("records and lists show a value with the app's template, escaped")
    func shown() async throws {
        try await Self.run { site in
            let path = try await site.buoy(["shade": #"<i>"red"#])
            let browser = try await site.browser()
            let value = #"<b class="&lt;i&gt;&quot;red" title="#
            let page = try await browser.get(path).text
            #expect(page.contains(value) && page.contains("Shade &lt;i&gt;&quot;red</b></dd>"), "\(page)")
            #expect(!page.contains("<i>") && !page.contains("in a list"))
            let list = try await browser.get("/panel/data/buoys?columns=name,shade,depth").text
            #expect(list.contains(value) && list.contains("Shade &lt;i&gt;&quot;red in a list</b></td>"), "\(list)")
            // The first column links to the record.
            let first = try await browser.get("/panel/data/buoys?columns=shade,name").text
            #expect(first.contains(#"<a href="\#(path)">&lt;i&gt;&quot;red</a>"#) && !first.contains("<b class="))
        }
    }

    @Test("missing values, values that the app leaves to the panel, and other fields are shown as usual")
    func usual() async throws {
        try await Self.run { site in
            let browser = try await site.browser()
            let none = try await browser.get(try await site.buoy(["shade": .null])).text
            #expect(none.contains(#"<dt>Shade</dt><dd><span class="quiet">none</span></dd>"#), "\(none)")
            let grey = try await browser.get(try await site.buoy(["shade": "grey"])).text
            #expect(grey.contains("<dt>Shade</dt><dd>grey</dd>"), "\(grey)")
            #expect(grey.contains("<dt>Depth</dt><dd>3</dd>"))
        }
    }

    @Test("a form has the app's control with the panel's label, and saves what is entered in it")
    func edited() async throws {
        try await Self.run { site in
            let path = try await site.buoy([:])
            let browser = try await site.browser()
            let page = try await browser.get("\(path)/edit").text
            #expect(page.contains(#"<label for="f-shade">Shade</label>"#), "\(page)")
            #expect(page.contains(#"<input class="mine" id="f-shade" name="f.shade" value="crimson" title="#))
            #expect(page.ranges(of: #"name="f.shade""#).count == 1 && !page.contains("<em>"))
            var form = PanelRecordTests.fields(page)
            form["f.shade"] = "green"
            #expect(try await browser.send(path, form, token: nil).status == 303)
            #expect(try await site.shade() == "green")
            let new = try await browser.get("/panel/new/buoys").text
            #expect(new.contains(#"<input class="mine" id="f-shade" name="f.shade" value="""#), "\(new)")
        }
    }

    @Test("an invalid value is refused at the app's control, which keeps what was entered")
    func problem() async throws {
        try await Self.run { site in
            let path = try await site.buoy([:])
            let browser = try await site.browser()
            var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
            form["f.depth"] = "<deep>"
            let refused = try await browser.send(path, form, token: nil)
            #expect(refused.status == 422 && refused.text.contains(##"href="#f-depth""##), "\(refused.text)")
            let control = #"<input id="f-depth" name="f.depth" value="&lt;deep&gt;" aria-describedby="w-f-depth""#
            #expect(refused.text.contains(control), "\(refused.text)")
            #expect(refused.text.contains(#"id="w-f-depth""#) && refused.text.contains("<em>"))
            #expect(try await site.fixture.pool.query("SELECT depth FROM buoy")[0, 0].int64 == 3)
        }
    }

    @Test("rows of a list have the app's control too")
    func rows() async throws {
        try await Self.run { site in
            let path = try await site.buoy([:])
            let browser = try await site.browser()
            let page = try await browser.get("/panel/rows/buoys?columns=name,shade,depth").text
            #expect(page.contains(#"<input class="mine" id="f-0.shade" name="f.0.shade" value="crimson""#), "\(page)")
            #expect(page.contains("<i>cell</i>"))
            var form = PanelRecordTests.fields(page)
            form["f.0.shade"] = "blue"
            let saved = try await browser.send("/panel/rows/buoys?columns=name,shade,depth", form, token: nil)
            #expect(saved.status == 303, "\(saved.text)")
            #expect(try await browser.get(path).text.contains(#"<b class="blue""#))
        }
    }

    @Test("a field hidden by the rules shows neither a value nor a control, and nobody can change it")
    func hidden() async throws {
        try await Self.run { site in
            let path = try await site.buoy([:])
            let browser = try await site.browser("guest")
            let pages = [path, "\(path)/edit", "/panel/data/buoys", "/panel/rows/buoys"]
            for address in pages {
                let page = try await browser.get(address)
                #expect(page.status == 200 && page.text.contains("North"), "\(address): \(page.text)")
                let isShown = page.text.contains("crimson") || page.text.contains(#"class="mine""#)
                #expect(!isShown, "\(address): \(page.text)")
            }
            var form = PanelRecordTests.fields(try await browser.get("\(path)/edit").text)
            form["f.name"] = "South"
            form["f.shade"] = "black"
            form["was.shade"] = #""crimson""#
            #expect(try await browser.send(path, form, token: nil).status == 303)
            #expect(try await site.shade() == "crimson")
        }
    }

    @Test("an app's page counts only what its reader may read, and never by a hidden field")
    func counting() async throws {
        try await Self.run { site in
            _ = try await site.buoy([:])
            _ = try await site.buoy(["shade": "blue"])
            let ada = try await site.browser()
            #expect(try await ada.get("/panel/count/shade").text.contains("<p>2 buoys</p>"))
            #expect(try await ada.get("/panel/count/id?filter=shade").text.contains("<p>1 buoys</p>"))
            let guest = try await site.browser("guest")
            #expect(try await guest.get("/panel/count/depth").text.contains("<p>2 buoys</p>"))
            for address in ["/panel/count/shade", "/panel/count/depth?filter=shade", "/panel/count/nothing"] {
                let refused = try await guest.get(address)
                #expect(refused.status == 400 && !refused.text.contains("buoys</p>"), "\(address): \(refused.text)")
            }
        }
    }

    @Test("styles for properties that the model doesn't have are listed for the log")
    func warnings() async throws {
        try await Self.run { site in
            #expect(
                site.panel.warnings == [
                    "Buoy has no property 'shape', so its style isn't used. Did you mean 'shade'?",
                    "There is no class 'Whale', so the style of 'song' isn't used.",
                ])
        }
    }
}
