import Foundation
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel

/// Boxes that open the panel's own pages to a role that applies everywhere.
extension AddedRolePagesTests {
    /// Adds the role `support`, which applies everywhere, and gives it to a user.
    static func addSupport(
        _ boxes: [String], to user: String, _ superAdmin: PanelBrowser, _ fixture: ServiceFixture
    ) async throws {
        var fields = ["name": "support", "reach": "everywhere"]
        for box in boxes { fields[box] = "1" }
        fields["version"] = "\(fixture.adminModels.current.ruleVersions["conference"] ?? 0)"
        let added = try await superAdmin.post("/panel/permissions/roles/new?app=conference", fields)
        #expect(added.status == 303, "\(added.text)")
        let id = try #require(fixture.users[user])
        try await fixture.rows().insert("RoleAssignment", ["user": .objectId(id), "role": "support", "event": .null])
        fixture.forgetRoles()
    }

    static func setBox(
        _ service: String, _ operation: String, _ isAllowed: Bool, of role: String = "support",
        _ superAdmin: PanelBrowser, _ fixture: ServiceFixture
    ) async throws -> Answer {
        let version = fixture.adminModels.current.ruleVersions["conference"] ?? 0
        return try await superAdmin.post(
            "/panel/permissions/box?app=conference",
            [
                "role": role, "service": service, "operation": operation, "allowed": "\(isAllowed)",
                "version": "\(version)",
            ])
    }

    /// The routes' access requirements that a service's boxes fulfil, and the service's page in the navigation.
    private static func accesses(_ service: String, _ operations: [String]) -> (accesses: Set<String>, page: String) {
        switch service {
        case "auditLog": (["audit objects"], "/panel/audit")
        case "devices": (["inspect objects of any class"], "/panel/devices")
        case "accounts":
            (operations.contains("update") ? ["see accounts", "change accounts"] : ["see accounts"], "/panel/accounts")
        default:
            (
                ["read the permission matrix", "read the permission matrix of any app"], "/panel/permissions"
            )
        }
    }

    /// The pages in the navigation that the read box opens.
    private static func listed(_ service: String) -> Set<String> {
        switch service {
        case "auditLog": ["/panel/audit"]
        case "devices": ["/panel/devices", "/panel/view-as", "/panel/requests", "/panel/schedule"]
        case "accounts": ["/panel/accounts"]
        default: ["/panel/permissions", "/panel/documents"]
        }
    }

    @Test("a refusal names a box only if it would help, and never to somebody who isn't logged in")
    func withoutBox() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let admin = try await PanelBrowser.loggedIn(client, as: "admin")
                let refused = try await admin.get("/panel/settings")
                #expect(refused.status == 403 && !refused.text.contains("A role gets this from"), "\(refused.text)")
                let devices = try await admin.get("/panel/devices")
                #expect(devices.status == 403, "\(devices.text)")
                #expect(devices.text.contains(#"<a href="/panel/permissions?app=conference">A role gets this from"#))
                for path in ["/panel/audit", "/panel/accounts", "/panel/permissions", "/panel/devices"] {
                    let answer = try await PanelBrowser(client).get(path)
                    #expect(answer.status == 303 && !answer.text.contains("A role gets this from"), "\(path)")
                }
            }
        }
    }

    @Test(
        "to a role that applies everywhere, a box opens its own pages of the panel and no others; without it they are closed",
        .timeLimit(.minutes(15)),
        arguments: [
            ("auditLog", ["read"]), ("devices", ["read"]), ("accounts", ["read"]), ("accounts", ["read", "update"]),
            ("permissions", ["read"]),
        ])
    func pages(service: String, operations: [String]) async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { app, client in
                let routes = app.routes.filter { route in
                    PanelRouteCall.isAsked(route)
                        && (!route.path.contains("{collection}") || route.access.contains("audit"))
                }
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await Self.addSupport([], to: "attendee", superAdmin, fixture)
                let browser = try await PanelBrowser.loggedIn(client, as: "attendee")
                func open() async throws -> Set<String> {
                    Set(
                        try await Self.open(routes, fixture, browser).map { text in
                            text.split(separator: " ").prefix(2).joined(separator: " ")
                        })
                }
                let before = try await open()
                let (accesses, page) = Self.accesses(service, operations)
                let expected = Set(routes.filter { accesses.contains($0.access) }.map { "\($0.method) \($0.path)" })
                #expect(expected.count >= 2 && expected.isDisjoint(with: before))
                #expect(try await !browser.get("/panel").text.contains("href=\"\(page)\""))

                // The page's refusal names the box, and the box's page names the pages.
                let refused = try await browser.get(page)
                let name = service == "auditLog" ? "audit log" : service
                let box =
                    "A role gets this from the box &#39;read&#39; of &#39;\(name)&#39; in the permissions of conference."
                #expect(refused.status == 403 && refused.text.contains(box), "\(refused.text)")
                #expect(
                    !refused.text.contains(#"href="/panel/permissions"#),
                    "There is no link for users who may not see its page.")
                let version = fixture.adminModels.current.ruleVersions["conference"] ?? 0
                let asked = try await superAdmin.get(
                    "/panel/permissions/box?app=conference&role=support&service=\(service)&operation=read&allowed=true"
                        + "&version=\(version)")
                let warning = asked.text.components(separatedBy: #"<div class="warning">"#).last ?? ""
                let listed = Set(warning.matches(of: /<li><a href="([^"]+)">/).map { String($0.1) })
                #expect(listed == Self.listed(service), "\(asked.text)")

                for operation in operations {
                    let ticked = try await Self.setBox(service, operation, true, superAdmin, fixture)
                    #expect(ticked.status == 303, "\(ticked.text)")
                }
                #expect(try await open() == before.union(expected))
                #expect(try await browser.get("/panel").text.contains("href=\"\(page)\""))

                for operation in operations.reversed() {
                    #expect(try await Self.setBox(service, operation, false, superAdmin, fixture).status == 303)
                }
                #expect(try await open() == before)
            }
        }
    }

    @Test(
        "the same boxes open the server's API, and a box of a role within an event opens only what belongs to the event"
    )
    func api() async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { _, client in
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await Self.addSupport([], to: "attendee", superAdmin, fixture)
                let call = ServiceTestSupport.Caller(client, fixture)
                let paths = ["auditLog": ["/admin/audit"], "permissions": ["/admin/permissions", "/admin/routes"]]
                for (service, paths) in paths {
                    for path in paths { #expect(try await call(.get, path, as: "attendee").status == 403, "\(path)") }
                    #expect(try await Self.setBox(service, "read", true, superAdmin, fixture).status == 303)
                    for path in paths { #expect(try await call(.get, path, as: "attendee").status == 200, "\(path)") }
                    #expect(try await Self.setBox(service, "read", false, superAdmin, fixture).status == 303)
                    for path in paths { #expect(try await call(.get, path, as: "attendee").status == 403, "\(path)") }
                }
                // An event's owner sees who changed its objects, but nothing about other events or accounts.
                func history(_ collection: String, _ id: ObjectId) async throws -> Int {
                    try await call(.get, "/admin/audit/\(collection)/\(id)", as: "owner").status
                }
                #expect(try await history("sessions", fixture.sessions[0]) == 403)
                let own = try await Self.setBox("auditLog", "read", true, of: "owner", superAdmin, fixture)
                #expect(own.status == 303, "\(own.text)")
                #expect(try await history("sessions", fixture.sessions[0]) == 200)
                #expect(try await history("users", try #require(fixture.users["attendee"])) == 403)
                // No route checks the other boxes within an event.
                for (service, operation) in [("devices", "read"), ("accounts", "read"), ("permissions", "read")] {
                    let idle = try await Self.setBox(service, operation, true, of: "owner", superAdmin, fixture)
                    #expect(idle.status == 422 && idle.text.contains("would permit nothing"), "\(idle.text)")
                }
            }
        }
    }

    @Test("a box that shows the matrix doesn't allow changing it, and no box does")
    func matrixStays() async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { _, client in
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let all = ["read.permissions", "read.accounts", "update.accounts", "read.devices", "read.auditLog"]
                try await Self.addSupport(all, to: "attendee", superAdmin, fixture)
                let support = try await PanelBrowser.loggedIn(client, as: "attendee")
                let grid = try await support.get("/panel/permissions")
                #expect(grid.status == 200 && !grid.text.contains("/panel/permissions/box"))
                #expect(grid.text.contains("support may read audit log"))
                #expect(!grid.text.contains("may not update permissions"))
                for (service, operation) in [("permissions", "read"), ("sessions", "read"), ("permissions", "update")] {
                    #expect(try await Self.setBox(service, operation, true, support, fixture).status == 403)
                }
                let version = fixture.adminModels.current.ruleVersions["conference"] ?? 0
                let role = ["name": "mine", "reach": "everywhere", "version": "\(version)"]
                #expect(try await support.post("/panel/permissions/roles/new?app=conference", role).status == 403)
                for operation in ["create", "update", "delete"] {
                    let ticked = try await Self.setBox("permissions", operation, true, superAdmin, fixture)
                    #expect(ticked.status == 422 && ticked.text.contains("would permit nothing"), "\(ticked.text)")
                }
                // Pages for users who may change the matrix.
                for page in ["settings", "settings/change/TOMBOLO_ADMIN_URL"] {
                    #expect(try await support.get("/panel/\(page)").status == 403, "\(page)")
                }
            }
        }
    }

    @Test("users who may inspect through a box can't view the panel as somebody who sees more")
    func viewing() async throws {
        try await ServiceFixture.with { fixture in
            let rules = fixture.adminModels.liveRules()
            try await PanelBrowser.with(fixture, rules: rules) { _, client in
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                try await Self.addSupport(["read.devices"], to: "attendee", superAdmin, fixture)
                let support = try await PanelBrowser.loggedIn(client, as: "attendee")
                #expect(try await support.get("/panel/view-as").status == 200)
                for target in ["superAdmin", "admin", "owner", "organizer", "registrar", "stranger"] {
                    let id = try #require(fixture.users[target])
                    let answer = try await support.post("/panel/view-as", ["user": "\(id)"])
                    #expect(answer.status == 403 && answer.text.contains("somebody who may see more"), "\(target)")
                }
                for role in ["superAdmin", "admin"] {
                    let answer = try await support.post("/panel/view-as", ["role": "conference/\(role)"])
                    #expect(answer.status == 403, "\(role)")
                }
            }
        }
    }
}
