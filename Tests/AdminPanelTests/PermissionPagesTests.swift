import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite struct PermissionPagesTests {
    private static let box = ["role": "coorganizer", "service": "sessions", "operation": "update", "allowed": "false"]

    private func permits(_ fixture: ServiceFixture) -> Bool {
        fixture.adminModels.current.matrices["conference"]?.permits(
            .init(role: "coorganizer", service: "sessions", operation: .update)) == true
    }

    @Test("a box is changed after a page that says what the change does, and the grid shows it")
    func change() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let grid = try await browser.get("/panel/permissions").text
                #expect(grid.contains("coorganizer may update sessions"))
                let version = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let query = Self.box.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                let asked = try await browser.get(
                    "/panel/permissions/box?app=conference&version=\(version)&\(query)")
                #expect(asked.status == 200 && asked.text.contains("Stop coorganizer from updating sessions?"))
                #expect(permits(fixture))
                let answer = try await browser.post(
                    "/panel/permissions/box?app=conference", Self.box.merging(["version": "\(version)"]) { $1 })
                #expect(answer.status == 303, "\(answer.text)")
                #expect(!permits(fixture))
                #expect(
                    try await browser.get("/panel/permissions").text.contains("coorganizer may not update sessions"))
            }
        }
    }

    @Test("a form about outdated rules stores nothing, and says so")
    func stale() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let version = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let wish = Self.box.merging(["version": "\(version)"]) { $1 }
                let other = [
                    "role": "moderator", "service": "tracks", "operation": "create", "allowed": "true",
                    "version": "\(version)",
                ]
                #expect(try await browser.post("/panel/permissions/box?app=conference", other).status == 303)
                let answer = try await browser.post("/panel/permissions/box?app=conference", wish)
                #expect(answer.status == 412 && answer.text.contains("Somebody has changed the rules"))
                #expect(permits(fixture))
                // That page's form has the newest version.
                let newest = try #require(fixture.adminModels.current.ruleVersions["conference"])
                #expect(answer.text.contains(#"name="version" value="\#(newest)""#))
            }
        }
    }

    @Test("an admin can see the grid but not change it; others see nothing of it")
    func access() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let grid = try await admin.get("/panel/permissions")
                #expect(grid.status == 200 && !grid.text.contains("/panel/permissions/box"))
                #expect(try await admin.post("/panel/permissions/box?app=conference", Self.box).status == 403)
                for role in ["owner", "coorganizer", "attendee"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    for path in ["", "/why", "/why?class=Session", "/routes"] {
                        #expect(try await browser.get("/panel/permissions\(path)").status == 403, "\(role) \(path)")
                    }
                    #expect(try await browser.post("/panel/permissions/box?app=conference", Self.box).status == 403)
                }
                #expect(permits(fixture))
            }
        }
    }

    @Test("the rules that decide answer why somebody may do something")
    func why() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let attendee = try await browser.get(
                    "/panel/permissions/why?class=Session&user=\(ServiceFixture.email("attendee"))"
                        + "&object=\(fixture.sessions[2])")
                #expect(attendee.status == 200 && attendee.text.contains("What attendee@example.org may do with"))
                // The session is pending, and attendees only see accepted or confirmed ones.
                #expect(attendee.text.contains(#"<td data-label="Verdict"><span class="verdict no">no</span>"#))
                let owner = try await browser.get(
                    "/panel/permissions/why?class=Session&user=\(ServiceFixture.email("owner"))"
                        + "&object=\(fixture.sessions[2])")
                #expect(owner.text.contains(#"<span class="verdict yes">yes</span>"#))
                // In words, with the rule's text beside them.
                #expect(attendee.text.contains("<li>Is public: yes, and State: accepted or confirmed</li>"))
                #expect(attendee.text.contains("<summary>The rule") && attendee.text.contains("isPublic == true"))
                #expect(owner.text.contains("<small>because of Event: one where they have the role owner</small>"))
                let role = try await browser.get("/panel/permissions/why?class=Session&role=conference%2Fmoderator")
                #expect(role.text.contains("What somebody with the role moderator may do with objects of Session"))
                #expect(role.text.contains("<li>Event: one where they have the role moderator</li>"))
                let maker = try await browser.get(
                    "/panel/permissions/why?class=Event&user=\(ServiceFixture.email("attendee"))")
                #expect(maker.text.contains("<li>Creator: this user</li>"))
                #expect(try await browser.get("/panel/permissions/why?class=Nothing").status == 422)
                #expect(try await browser.get("/panel/permissions/why?class=Session&user=nobody").status == 422)
                #expect(try await browser.get("/panel/permissions/why?class=Session&object=x").status == 422)
                #expect(
                    try await browser.get(
                        "/panel/permissions/why?class=Session&object=ffffffffffffffffffffffff"
                    ).status == 404)
            }
        }
    }

    @Test(
        "a 'no' names the box that decides, or says that no role has one, with a link for those who may see the matrix")
    func decidingBox() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let why = "/panel/permissions/why?class=Session"
                func user(_ role: String) -> String { "\(why)&user=\(ServiceFixture.email(role))" }
                let version = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let moderator = try await browser.get("\(why)&role=conference%2Fmoderator").text
                for operation in ["create", "update", "delete"] {
                    #expect(moderator.contains("The box is off: moderator may not \(operation) sessions."))
                    let link =
                        "/panel/permissions/box?app=conference&amp;role=moderator&amp;service=sessions&amp;operation="
                        + "\(operation)&amp;allowed=true&amp;version=\(version)"
                    #expect(moderator.contains(link), "\(moderator)")
                }
                #expect(!moderator.contains("moderator may not read sessions"))
                let coorganizer = try await browser.get("\(user("coorganizer"))&object=\(fixture.sessions[0])").text
                #expect(coorganizer.contains("coorganizer may not delete sessions."))
                #expect(!coorganizer.contains("coorganizer may not update sessions."))
                let elsewhere = try await browser.get("\(user("coorganizer"))&object=\(fixture.draftSession)").text
                #expect(elsewhere.contains("None of their roles there has a box for sessions."))
                let attendee = try await browser.get(user("attendee")).text
                #expect(attendee.contains("None of their roles has a box for sessions."))
                // Boxes are for services: users aren't one, and no box can permit creating events.
                let users = try await browser.get("/panel/permissions/why?class=User&role=conference%2Fowner").text
                let events = try await browser.get("/panel/permissions/why?class=Event&role=conference%2Fowner").text
                #expect(!users.contains("box for") && !users.contains("box is off"))
                #expect(!events.contains("may not create events"))
                // An admin can see the matrix but not change it.
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let seen = try await admin.get("\(why)&role=conference%2Fmoderator").text
                #expect(seen.contains("moderator may not create sessions.") && !seen.contains("/panel/permissions/box"))
            }
        }
    }

    @Test("the answer about somebody else's rights reveals no properties that the caller may not read")
    func concealed() async throws {
        try await ServiceFixture.with { fixture in
            let rules = try #require(fixture.adminModels.current.ruleDocuments["conference"])
            let read = "      read: {isPublic: true, state: {$in: [accepted, confirmed]}}\n"
            let more =
                "      write: {slidesURL: \"%%user.data.email\"}\n"
                + "      fields: {slidesURL: {read: false, write: false}}\n"
            let text = rules.replacing(read, with: read + more)
            try #require(text != rules)
            try await fixture.pool.withConnection { connection in
                _ = try await RuleDeployment(file: "rules.yaml", content: text).apply(app: "conference", connection)
            }
            try await fixture.adminModels.refresh()
            _ = try await fixture.authenticator.register(
                email: ServiceFixture.email("visitor"), password: ServiceFixture.password, displayName: "A visitor")
            let session = fixture.sessions[0]
            try await fixture.pool.query(
                "UPDATE session SET slides_url = $1 WHERE _id = $2",
                [.text(ServiceFixture.email("attendee")), .bytea(session.bytes)])
            try await PanelBrowser.with(fixture, rules: fixture.adminModels.liveRules()) { _, client in
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                func verdicts(_ user: String) async throws -> [String] {
                    let page = try await admin.get(
                        "/panel/permissions/why?class=Session&user=\(ServiceFixture.email(user))&object=\(session)")
                    #expect(page.status == 200, "\(page.text)")
                    return page.text.matches(of: /class="verdict [^"]*">[^<]*/).map { String($0.output) }
                }
                let named = try await verdicts("attendee")
                let other = try await verdicts("visitor")
                #expect(!named.isEmpty && named == other)
            }
        }
    }

    @Test(
        "the question about an object accepts its id, whatever its type",
        arguments: [
            (
                "Boat", PropertyType.uuid, "'6f9619ff-8b86-d011-b42d-00c04fc964ff'",
                "6F9619FF-8B86-D011-B42D-00C04FC964FF", "00000000-0000-0000-0000-000000000000", "12"
            ), ("Berth", .int(bits: 64), "7", "7", "8", "seven"),
            ("Buoy", .string, "'north 1'", "north%201", "north", "%00"),
        ] as [(String, PropertyType, String, String, String, String)])
    func keys(
        className: String, type: PropertyType, stored: String, id: String, other: String, wrong: String
    ) async throws {
        try await ServiceFixture.with { fixture in
            let key = ModelProperty(name: "_id", type: type, isPrimaryKey: true)
            let models = try ModelDocument(
                app: "harbour",
                classes: [ModelClass(name: className, table: className.lowercased(), properties: [key])])
            let rules = "version: 1\nrules:\n  \(className):\n    - { name: all, applyWhen: {}, read: true }\n"
            try await fixture.pool.withConnection { connection in
                try await Migrator.toDocuments([AppDocuments(models: models, rules: rules)], on: connection).apply()
                try await connection.execute("INSERT INTO \(className) (_id) VALUES (\(stored))")
            }
            try await fixture.adminModels.refresh()
            try await PanelBrowser.with(fixture, rules: fixture.adminModels.liveRules()) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                func ask(_ id: String) async throws -> Answer {
                    let user = ServiceFixture.email("admin")
                    return try await browser.get(
                        "/panel/permissions/why?class=\(className)&user=\(user)&object=\(id)")
                }
                let answer = try await ask(id)
                #expect(answer.status == 200 && answer.text.contains("may do with \(className)"), "\(answer.text)")
                #expect(answer.text.contains(#"<span class="verdict yes">yes</span>"#))
                #expect(try await ask(other).status == 404)
                let refused = try await ask(wrong)
                #expect(refused.status == 422 && refused.text.contains("The id isn"), "\(refused.text)")
            }
        }
    }

    @Test("the page of routes has one line per route, with each role's access")
    func routes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "admin")
                let page = try await browser.get("/panel/permissions/routes").text
                for route in app.routes { #expect(page.contains("\(route.method) \(route.path)<"), "\(route)") }
                let few = try await browser.get("/panel/permissions/routes?search=trash%2Fempty").text
                #expect(few.contains("POST /admin/trash/empty<") && !few.contains("GET /health<"))
            }
        }
    }

    @Test("an unknown box is refused", arguments: ["role", "service", "operation", "allowed", "version"])
    func hostile(field: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                var wish = Self.box.merging(["version": "1"]) { $1 }
                for value in ["", "nobody", "'\"><script>"] {
                    wish[field] = value
                    let answer = try await browser.post("/panel/permissions/box?app=conference", wish)
                    #expect(answer.status == 422 && !answer.text.contains("<script>"))
                }
                #expect(permits(fixture))
            }
        }
    }
}
