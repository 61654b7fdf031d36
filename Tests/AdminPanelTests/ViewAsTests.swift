import AdminService
import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite struct ViewAsTests {
    @Test("viewing as an attendee shows what the attendee sees, on pages that say so")
    func sight() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await browser.get("/panel/data/sessions").text.contains("Talk 3"))
                let attendee = try #require(fixture.users["attendee"])
                #expect(try await browser.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
                let list = try await browser.get("/panel/data/sessions")
                #expect(list.status == 200 && list.text.contains("Talk 1") && !list.text.contains("Talk 3"))
                #expect(list.text.contains("The attendee") && list.text.contains("/panel/view-as/end"))
                #expect(try await browser.get("/panel/trash").status == 403)
                #expect(try await browser.post("/panel/view-as/end").status == 303)
                #expect(try await browser.get("/panel/data/sessions").text.contains("Talk 3"))
                let after = try await browser.get("/panel").text
                #expect(!after.contains("/panel/view-as/end"))
            }
        }
    }

    @Test("viewing as a role within an event shows that event only")
    func role() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let wish = ["role": "conference/moderator", "scope": "\(fixture.event)"]
                #expect(try await browser.post("/panel/view-as", wish).status == 303)
                let events = try await browser.get("/panel/data/events").text
                #expect(events.contains("Island Days") && !events.contains("Secret Days"))
                let sessions = try await browser.get("/panel/data/sessions").text
                #expect(sessions.contains("Talk 3"))
                let mark = try #require(sessions.firstMatch(of: /viewing the panel as <strong>([^<]*)/)).1
                #expect(mark == "the role moderator in Island Days")
                let refused = try await browser.post("/panel/theme", ["theme": "dark"])
                #expect(refused.status == 403 && refused.text.contains("as the role moderator in Island Days, so"))
                // The log has the event's id, which doesn't change.
                let logged = try await fixture.pool.query("SELECT viewed FROM tombolo.panel_viewing")[0, 0].string
                #expect(logged == "the role moderator in \(fixture.event)")
            }
        }
    }

    @Test("while viewing, nothing can be sent, whatever the user may do as themselves")
    func readOnly() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, client in
                let group = try await Trash(schema: fixture.rules.schema, pool: fixture.adminServer.pool).trash(
                    "Session", .objectId(fixture.sessions[0]), by: nil)
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let admin = try #require(fixture.users["admin"])
                #expect(try await browser.post("/panel/view-as", ["user": "\(admin)"]).status == 303)
                for route in app.routes
                where route.path.hasPrefix("/panel/") && route.method != "GET"
                    && !["/panel/login", "/panel/logout", "/panel/view-as/end"].contains(route.path)
                {
                    let path = Caller.address(route, id: group.id.uuidString.lowercased())
                        .replacing("{login}", with: "ffffffffffffffffffffffff")
                    let answer = try await browser.post(path)
                    #expect(
                        answer.status == 403 && answer.text.contains("nothing was changed"),
                        "\(route.method) \(route.path): \(answer.status)")
                }
                #expect(try await browser.post("/panel/logout").status == 303)
            }
        }
    }

    @Test("nobody can view as somebody who sees more", arguments: ["admin", "owner", "coorganizer", "attendee"])
    func above(role: String) async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: role)
                for target in ["superAdmin", "admin", "stranger"] where target != role {
                    let id = try #require(fixture.users[target])
                    #expect(try await browser.post("/panel/view-as", ["user": "\(id)"]).status == 403, "\(target)")
                }
                let wish = ["role": "conference/superAdmin"]
                #expect(try await browser.post("/panel/view-as", wish).status == 403)
            }
        }
    }

    @Test("a user with 'inspect' can view as those who see no more than they do, and as nobody else")
    func inspector() async throws {
        try await ServiceFixture.with { fixture in
            let model = fixture.adminModels.current
            let superAdmin = model.example(of: "superAdmin", inMatrixOf: "conference")
            let admin = model.example(of: "admin", inMatrixOf: "conference")
            let owner = Subject(user: ObjectId(), grants: [RoleGrant(Role("owner"), in: fixture.event)])
            #expect(ViewAs.refusal(of: superAdmin, looking: admin, model) == nil)
            #expect(ViewAs.refusal(of: superAdmin, looking: owner, model) == nil)
            #expect(ViewAs.refusal(of: admin, looking: owner, model)?.code == .forbidden)
            #expect(ViewAs.refusal(of: owner, looking: owner, model)?.code == .forbidden)
        }
    }

    @Test("rights to pages that aren't about objects count too: the audit log, devices, accounts and the matrix")
    func pages() async throws {
        try await ServiceFixture.with { fixture in
            let superAdmin = Subject(
                user: try #require(fixture.users["superAdmin"]),
                grants: [RoleGrant(role: Role("superAdmin"), scope: nil)])
            func add(_ name: String, _ services: [String]) async throws {
                let version = try #require(fixture.adminModels.current.ruleVersions["conference"])
                let boxes = Dictionary(uniqueKeysWithValues: services.map { ($0, Set([TomboloRules.Operation.read])) })
                _ = try await fixture.adminModels.change(
                    .add(name, isEverywhere: true, boxes: boxes), of: "conference", at: version, by: superAdmin)
            }
            try await add("watch", ["devices"])
            for service in ["auditLog", "accounts", "permissions"] { try await add("\(service)Reader", [service]) }
            let model = fixture.adminModels.current
            // The same user throughout, so their own rights make no difference.
            func subject(_ roles: String...) -> Subject {
                Subject(user: ObjectId(high: 5, low: 5), grants: Set(roles.map { RoleGrant(Role($0), in: nil) }))
            }
            #expect(ViewAs.refusal(of: subject("watch"), looking: subject(), model) == nil)
            #expect(ViewAs.refusal(of: subject(), looking: subject("watch"), model) != nil)
            for role in ["auditLogReader", "accountsReader", "permissionsReader"] {
                #expect(ViewAs.refusal(of: subject("watch"), looking: subject(role), model) != nil, "\(role)")
                #expect(ViewAs.refusal(of: subject("watch", role), looking: subject(role), model) == nil, "\(role)")
            }
        }
    }

    @Test("lists that the rules hide from the viewer count like other properties")
    func lists() throws {
        let model = try ClubModel.server(
            rules: """
                grants: {class: Membership, user: user, role: role}
                Club:
                  - name: help
                    applyWhen: {"%%user.roles": help}
                    read: true
                    operations: {inspect: true}
                    fields: {name: {read: true, write: false}, notes: {read: false, write: false}}
                  - {name: all, applyWhen: {}, read: true}
                """)
        func subject(_ roles: String...) -> Subject {
            Subject(user: ObjectId(high: 5, low: 5), grants: Set(roles.map { RoleGrant(Role($0), in: nil) }))
        }
        let refusal = ViewAs.refusal(of: subject("help"), looking: subject(), model)
        #expect(refusal?.message.contains("properties of Club") == true, "\(String(describing: refusal))")
        #expect(ViewAs.refusal(of: subject("help"), looking: subject("help"), model) == nil)
    }

    @Test("an invented cookie has no effect, and neither has another session's")
    func forged() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let superAdmin = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let attendee = try #require(fixture.users["attendee"])
                #expect(try await superAdmin.post("/panel/view-as", ["user": "\(attendee)"]).status == 303)
                let sealed = try #require(superAdmin.cookie("tombolo_view"))
                let owner = try await PanelBrowser.loggedIn(client, as: "owner")
                for value in [sealed, "x", "\(sealed)x", "user%0A\(attendee)"] {
                    owner.setCookie("tombolo_view", value)
                    #expect(try await owner.get("/panel/data/sessions").text.contains("Talk 3"))
                }
            }
        }
    }

    @Test(
        "text in cookies is read back as written",
        arguments: [
            ViewAs.user(ObjectId(high: 1, low: 2)), .role("owner", app: "conference", scope: ObjectId(high: 3, low: 4)),
            .role("a b", app: "", scope: nil),
        ])
    func text(viewing: ViewAs) { #expect(ViewAs(viewing.text) == viewing) }

    @Test("users can be found by address, and a role's scope by its title")
    func names() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let address = ServiceFixture.email("attendee")
                #expect(try await browser.post("/panel/view-as", ["user": address]).status == 303)
                #expect(try await browser.get("/panel/data/sessions").text.contains("The attendee"))
                #expect(try await browser.post("/panel/view-as/end").status == 303)
                let role = ["role": "conference/organizer", "scope": "Secret Days"]
                #expect(try await browser.post("/panel/view-as", role).status == 303)
                #expect(try await browser.get("/panel/data/events").text.contains("Secret Days"))
                #expect(try await browser.post("/panel/view-as/end").status == 303)
                for wish in [
                    ["user": "nobody@example.org"], ["user": "x"],
                    ["role": "conference/organizer", "scope": "No Days"],
                ] {
                    #expect(try await browser.post("/panel/view-as", wish).status == 422, "\(wish)")
                }
            }
        }
    }
}
