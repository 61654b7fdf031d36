import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// Roles that are added, renamed and removed in the panel, and users' rights without a role.
@Suite struct RolePagesTests {
    private static let app = "app=conference"
    private static let new = "/panel/permissions/roles/new?\(app)"

    private static func version(_ fixture: ServiceFixture) -> String {
        "\(fixture.adminModels.current.ruleVersions["conference"] ?? 0)"
    }

    private static func role(_ name: String, _ action: String = "") -> String {
        "/panel/permissions/role\(action)?\(app)&role=\(name)"
    }

    @Test("a role is added with a form, shows its holders on its page, is renamed, and is removed once nobody has it")
    func lifeOfARole() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let form = try await browser.get(Self.new)
                #expect(form.status == 200 && form.text.contains(#"name="update.sessions""#))
                let wish = [
                    "name": "herald", "reach": "within", "update.sessions": "1", "version": Self.version(fixture),
                ]
                let added = try await browser.post(Self.new, wish)
                #expect(added.status == 303, "\(added.text)")
                let matrix = try #require(fixture.adminModels.current.matrices["conference"])
                #expect(matrix.letters(role: "herald", service: "sessions") == "-ru-")
                #expect(try await browser.get(Self.role("herald")).text.contains("Nobody has it."))
                let grid = try await browser.get("/panel/permissions").text
                #expect(grid.contains("herald may update sessions") && grid.contains(">added<"))

                let grant = try await fixture.rows().insert(
                    "RoleAssignment",
                    [
                        "user": fixture.users["attendee"].map(Value.objectId) ?? .null, "role": "herald",
                        "event": .objectId(fixture.event),
                    ])
                let held = try await browser.get(Self.role("herald")).text
                #expect(held.contains("1 user has it; 1 object grants it.") && held.contains("attendee@example.org"))
                #expect(!held.contains("Remove the role herald"))
                let refused = try await browser.post(
                    Self.role("herald", "/remove"), ["version": Self.version(fixture)])
                #expect(refused.status == 409 && refused.text.contains("1 grant gives"), "\(refused.text)")

                let renamed = try await browser.post(
                    Self.role("herald", "/rename"), ["name": "crier", "version": Self.version(fixture)])
                #expect(renamed.status == 303, "\(renamed.text)")
                #expect(try await browser.get(Self.role("herald")).status == 404)
                #expect(try await browser.get(Self.role("crier")).text.contains("attendee@example.org"))
                for page in ["why?class=Session&role=conference%2Fcrier", "routes"] {
                    #expect(try await browser.get("/panel/permissions/\(page)").text.contains("crier"), "\(page)")
                }
                try await fixture.pool.query("DELETE FROM role_assignment WHERE _id = $1", [.bytea(grant.bytes)])
                let removed = try await browser.post(
                    Self.role("crier", "/remove"), ["version": Self.version(fixture)])
                #expect(removed.status == 303, "\(removed.text)")
                #expect(try await !browser.get("/panel/permissions").text.contains("crier may"))
            }
        }
    }

    @Test(
        "administrators have a column with boxes, super administrators one without, and both say that they apply everywhere"
    )
    func everywhereRoles() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let grid = try await browser.get("/panel/permissions").text
                #expect(grid.contains("admin may not read sessions") && grid.contains(">everywhere<"))
                #expect(grid.contains("role=admin&amp;service=sessions&amp;operation=read"))
                #expect(grid.contains("superAdmin may read sessions, by the rules of the class"))
                #expect(!grid.contains("/panel/permissions/box?app=conference&amp;role=superAdmin"))
                let box = [
                    "role": "admin", "service": "sessions", "operation": "read", "allowed": "true",
                    "version": Self.version(fixture),
                ]
                #expect(try await browser.post("/panel/permissions/box?app=conference", box).status == 303)
                #expect(try await browser.get("/panel/permissions").text.contains("admin may read sessions"))
                let owner = try await browser.get(Self.role("owner")).text
                #expect(owner.contains("also name this role elsewhere"))
                #expect(!owner.contains("Rename it"))
            }
        }
    }

    @Test("a user permission is a box with a page that says what it does, and an account's page lists what it has")
    func userPermissions() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(
                    try await browser.get("/panel/permissions").text.contains(
                        "unverified users don&#39;t have the permission createEvent"))
                let wish = [
                    "permission": "createEvent", "group": "unverified", "allowed": "true",
                    "version": Self.version(fixture),
                ]
                let query = wish.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
                let asked = try await browser.get("/panel/permissions/box?\(Self.app)&\(query)")
                #expect(asked.status == 200 && asked.text.contains("Give unverified users createEvent?"))
                let user = try #require(fixture.users["attendee"])
                let account = "/panel/accounts/\(user)"
                #expect(try await browser.get(account).text.contains("none, as one of the unverified users"))
                #expect(try await browser.post("/panel/permissions/box?\(Self.app)", wish).status == 303)
                #expect(try await browser.get(account).text.contains("createEvent, as one of the unverified users"))
                #expect(try await browser.post("\(account)/verify").status == 303)
                let verified = try await browser.get(account).text
                #expect(verified.contains("createEvent, publishEvent, as one of the verified users"))
                #expect(verified.contains("Mark as not verified"))
                let why = try await browser.get(
                    "/panel/permissions/why?class=Event&user=\(ServiceFixture.email("attendee"))"
                ).text
                #expect(why.contains("Permissions without a role: createEvent, publishEvent"))
                for field in ["permission", "group", "allowed", "version"] {
                    let hostile = wish.merging([field: "'\"><script>"]) { $1 }
                    let answer = try await browser.post("/panel/permissions/box?\(Self.app)", hostile)
                    #expect(answer.status == 422 && !answer.text.contains("<script>"), "\(field)")
                }
            }
        }
    }

    @Test("an admin can see roles but change none, others see nothing; a stale form or a hostile name stores nothing")
    func refusals() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let before = Self.version(fixture)
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let page = try await admin.get(Self.role("owner"))
                #expect(page.status == 200 && page.text.contains("owner@example.org"))
                let wish = ["name": "herald", "version": before]
                #expect(try await admin.get(Self.new).status == 403)
                #expect(try await admin.post(Self.new, wish).status == 403)
                #expect(try await admin.post(Self.role("moderator", "/remove"), wish).status == 403)
                #expect(try await admin.post(Self.role("moderator", "/rename"), wish).status == 403)
                let user = try #require(fixture.users["attendee"])
                #expect(try await admin.post("/panel/accounts/\(user)/verify").status == 403)
                for role in ["owner", "attendee"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await browser.get(Self.role("owner")).status == 403)
                    #expect(try await browser.post(Self.new, wish).status == 403)
                }
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                for name in ["", "owner", "a: {events: crud}", "'\"><script>", "%%user.grants.owner"] {
                    let answer = try await browser.post(Self.new, ["name": name, "version": before])
                    #expect(answer.status == 422 && !answer.text.contains("<script>"), "\(name)")
                }
                #expect(try await browser.post(Self.new, ["name": "herald"]).status == 422)
                let stale = try await browser.post(Self.new, ["name": "herald", "version": "0"])
                #expect(stale.status == 412 && stale.text.contains(#"value="herald""#), "\(stale.text)")
                for role in ["owner", "admin", "superAdmin"] {
                    #expect(try await browser.post(Self.role(role, "/remove"), ["version": before]).status == 422)
                }
                #expect(Self.version(fixture) == before)
            }
        }
    }
}
