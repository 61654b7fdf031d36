import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloChangesets
import class TomboloAuthentication.Authenticator
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// An added role lets nobody do more than they could before, neither directly nor through a second account.
@Suite struct AddedRoleTests {
    private static let media = "application/vnd.api+json"
    private static let atomic = #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#

    private static func run(_ body: @escaping @Sendable (ServiceFixture, Caller) async throws -> Void) async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            for role in [
                // More rights than administrators have, and exactly as many.
                #"{"name": "contacts", "everywhere": true, "permissions": {"speakerContacts": ["read"]}}"#,
                #"{"name": "bin", "everywhere": true, "permissions": {"trash": ["read", "update", "delete"]}}"#,
                #"{"name": "clerk", "everywhere": true, "permissions": {"events": ["read", "update"]}}"#,
                // No more rights than owners have.
                #"{"name": "herald", "permissions": {"sessions": ["read", "update"]}}"#,
                // More: owners don't list the trash, and administrators don't read sessions.
                #"{"name": "keeper", "permissions": {"trash": ["read"], "sessions": ["read"]}}"#,
            ] {
                let added = try await call(
                    .post, "/admin/permissions/roles", as: "superAdmin", body: role, headers: [.ifMatch: "*"])
                #expect(added.status == 201, "\(added.text)")
            }
            try await body(fixture, call)
        }
    }

    private static func grant(_ user: ObjectId, _ role: String, _ event: ObjectId?) -> String {
        let link = event.map { #", "event": {"data": {"type": "events", "id": "\#($0)"}}"# } ?? ""
        return #"""
            {"type": "role_assignments", "attributes": {"role": "\#(role)"}, "relationships": {
            "user": {"data": {"type": "users", "id": "\#(user)"}}\#(link)}}
            """#
    }

    private static func table(_ fixture: ServiceFixture) async throws -> [String] {
        try await fixture.pool.query("SELECT t::text FROM role_assignment t ORDER BY 1").map { try $0[0].string }
    }

    /// Whether a device of the actor's may write an assignment.
    private static func syncs(
        _ actor: String, _ user: ObjectId, _ role: String, _ event: ObjectId?, _ fixture: ServiceFixture
    ) async throws -> Bool {
        let rules = fixture.adminModels.current.rules
        fixture.forgetRoles()
        let access = rules.access(
            of: try await fixture.authenticator.subject(of: try #require(fixture.users[actor])))
        let index = try #require(rules.schema.index(of: "RoleAssignment"))
        let item = rules.schema[index]
        var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
        row[try #require(item.columnIndex("user"))] = .objectId(user)
        row[try #require(item.columnIndex("role"))] = .string(role)
        row[try #require(item.columnIndex("event"))] = event.map(Value.objectId) ?? .null
        return access.permit(WriteRequest(operation: .create, classIndex: index, old: nil, new: row)) == nil
    }

    @Test(
        "administrators can't give anybody, in any way, an added role with more rights than their own",
        arguments: [("contacts", false), ("keeper", true), ("herald", false), ("unknown", true)])
    func more(role: String, isWithin: Bool) async throws {
        try await Self.run { fixture, call in
            let before = try await Self.table(fixture)
            let (admin, accomplice) = (
                try #require(fixture.users["admin"]), try #require(fixture.users["attendee"])
            )
            let event = isWithin ? fixture.event : nil
            let known = try await fixture.pool.query(
                "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'registrar'")[0, 0].string
            for user in [admin, accomplice] {
                #expect(try await !Self.syncs("admin", user, role, event, fixture), "\(user)")
                let data = Self.grant(user, role, event)
                let made = try await call(
                    .post, "/api/role_assignments", as: "admin", body: #"{"data": \#(data)}"#, type: Self.media)
                // No grant may hold this value, so it's invalid rather than forbidden.
                let status = role == "unknown" ? 422 : 403
                #expect(made.status == status, "\(made.text)")
                let operation = #"{"atomic:operations": [{"op": "add", "data": \#(data)}]}"#
                let atomic = try await call(
                    .post, "/api/operations", as: "admin", body: operation, type: Self.atomic)
                #expect(atomic.status == status, "\(atomic.text)")
            }
            let change =
                #"{"data": {"type": "role_assignments", "id": "\#(known)", "attributes": {"role": "\#(role)"}}}"#
            let patched = try await call(
                .patch, "/api/role_assignments/\(known)", as: "admin", body: change, type: Self.media)
            #expect(role == "herald" || [403, 422].contains(patched.status), "\(patched.text)")
            let scope = event.map { #", "scope": "\#($0)""# } ?? ""
            let invited = try await call(
                .post, "/invitations", as: "admin",
                body: #"{"email": "accomplice@example.org", "role": "\#(role)"\#(scope)}"#)
            #expect([403, 422].contains(invited.status), "\(invited.text)")
            let file = "user,role,event\r\n\(accomplice),\(role),\(event?.stringValue ?? "")\r\n"
            let upload = try await call(
                .post, "/import/role_assignments", as: "admin", body: file, type: "text/csv")
            let job = upload.json["job"]?["id"]?.number ?? 0
            let preview = try await call(
                .post, "/import/role_assignments/\(job)/preview", as: "admin", body: "{}")
            #expect(preview.json["creates"] == 0 && preview.json["refused"] == 1, "\(preview.text)")
            if role != "herald" { #expect(try await Self.table(fixture) == before) }
        }
    }

    @Test(
        "administrators can give others the added roles with no more rights than their own; nobody can give themselves one"
    )
    func noMore() async throws {
        try await Self.run { fixture, call in
            let (admin, attendee) = (try #require(fixture.users["admin"]), try #require(fixture.users["attendee"]))
            func give(_ role: String, to user: ObjectId, in event: ObjectId?) async throws -> Int {
                try await call(
                    .post, "/api/role_assignments", as: "admin",
                    body: #"{"data": \#(Self.grant(user, role, event))}"#, type: Self.media
                ).status
            }
            for (role, event) in [("clerk", nil), ("bin", nil), ("herald", fixture.event)] as [(String, ObjectId?)] {
                #expect(try await give(role, to: attendee, in: event) == 201, "\(role)")
                #expect(try await give(role, to: admin, in: event) == 403, "\(role)")
                #expect(try await !Self.syncs("admin", admin, role, event, fixture), "\(role)")
            }
            for (role, event) in [("admin", nil), ("owner", fixture.draft), ("organizer", fixture.event)]
                as [(String, ObjectId?)]
            {
                #expect(try await give(role, to: admin, in: event) == 403, "\(role)")
            }
            // Owners can't give any of the added roles.
            for user in [attendee, try #require(fixture.users["owner"])] {
                #expect(try await !Self.syncs("owner", user, "herald", fixture.event, fixture))
            }
            // One more box makes the role more than an administrator may give.
            let box = #"{"role": "clerk", "service": "tickets", "operation": "read", "allowed": true}"#
            let ticked = try await call(
                .patch, "/admin/permissions", as: "superAdmin", body: box, headers: [.ifMatch: "*"])
            #expect(ticked.status == 200, "\(ticked.text)")
            let stranger = try #require(fixture.users["stranger"])
            #expect(try await give("clerk", to: stranger, in: nil) == 403)
            // They can see who has the role, but can't take it away.
            let held = try await fixture.pool.query(
                "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'clerk'")[0, 0].string
            #expect(try await call(.get, "/api/role_assignments/\(held)", as: "admin").status == 200)
            #expect(try await call(.delete, "/api/role_assignments/\(held)", as: "admin").status == 403)
            #expect(try await Self.syncs("superAdmin", stranger, "contacts", nil, fixture))
        }
    }

    @Test("the trash boxes determine who lists the trash, restores from it and moves what into it, and where")
    func trash() async throws {
        try await Self.run { fixture, call in
            func tick(_ role: String, _ operation: String, _ isAllowed: Bool) async throws {
                let body =
                    #"{"role": "\#(role)", "service": "trash", "operation": "\#(operation)", "allowed": \#(isAllowed)}"#
                let answer = try await call(
                    .patch, "/admin/permissions", as: "superAdmin", body: body, headers: [.ifMatch: "*"])
                #expect(answer.status == 200, "\(answer.text)")
            }
            let grid = try await call(.get, "/admin/permissions", as: "admin").json["permissions"]
            #expect(
                grid?["admin"]?["trash"] == ["create": false, "read": true, "update": true, "delete": true],
                "\(String(describing: grid))")
            #expect(grid?["superAdmin"]?["trash"] == [:], "set by the rules of each class")
            for (session, role) in [(fixture.sessions[0], "admin"), (fixture.draftSession, "stranger")] {
                #expect(try await call(.delete, "/sessions/\(session)", as: role).status == 200)
            }
            func listed(_ role: String) async throws -> [String]? {
                let answer = try await call(.get, "/admin/trash", as: role)
                guard answer.status == 200 else { return nil }
                return answer.json["items"]?.list.compactMap { $0["_id"]?.text }
            }
            #expect(try await listed("owner") == nil)
            try await tick("owner", "read", true)
            #expect(try await listed("owner") == [fixture.sessions[0].stringValue], "of their event only")
            let restore = "/admin/trash/\(fixture.sessions[0])/restore"
            #expect(try await call(.post, restore, as: "owner").status == 403)
            try await tick("owner", "update", true)
            #expect(try await call(.post, "/admin/trash/\(fixture.draftSession)/restore", as: "owner").status == 403)
            #expect(try await call(.post, restore, as: "owner").status == 200)
            #expect(try await call(.get, "/admin/trash?class=User", as: "owner").status == 403)

            try await tick("admin", "delete", false)
            #expect(try await call(.delete, "/sessions/\(fixture.sessions[0])", as: "admin").status == 403)
            try await tick("admin", "update", false)
            try await tick("admin", "read", false)
            #expect(try await listed("admin") == nil)
        }
    }
}
