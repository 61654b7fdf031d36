import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloServerModel

/// Roles added by an administrator, over HTTP, with PostgreSQL.
@Suite struct RoleRoutesTests {
    private static func change(
        _ call: Caller, _ method: HTTPRequest.Method, _ role: String = "", _ body: String? = nil,
        as user: String = "superAdmin", tag: String? = "*"
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        headers[.ifMatch] = tag
        // Another test's change may lock the rules for longer than the server waits.
        while true {
            let answer = try await call(
                method, "/admin/permissions/roles\(role)", as: user, body: body, headers: headers)
            if answer.status != 503 { return answer }
        }
    }

    private static func give(
        _ fixture: ServiceFixture, _ role: String, to user: String, in event: ObjectId?
    ) async throws -> ObjectId {
        try await fixture.rows().insert(
            "RoleAssignment",
            [
                "user": fixture.users[user].map(Value.objectId) ?? .null, "role": .string(role),
                "event": event.map(Value.objectId) ?? .null,
            ])
    }

    @Test("a role within an event can be added, given, edited, renamed along with its grants, and removed")
    func lifeOfARole() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let before = try await fixture.pool.query("SELECT content FROM tombolo.document WHERE kind = 'rules'")[0, 0]
                .string
            let body = #"{"name": "herald", "permissions": {"events": ["read"], "sessions": ["read"]}}"#
            let added = try await Self.change(call, .post, "", body)
            #expect(added.status == 201, "\(added.text)")
            #expect(
                added.json["roles"]?.list.last == "herald" && added.json["customRoles"] == ["herald"], "\(added.text)")
            let grant = try await Self.give(fixture, "herald", to: "attendee", in: fixture.event)
            fixture.forgetRoles()
            let pending = "/api/sessions/\(fixture.sessions[2])"
            let patch =
                #"{"data": {"type": "sessions", "id": "\#(fixture.sessions[2])", "attributes": {"title": "X"}}}"#
            func edit() async throws -> Int {
                try await call(.patch, pending, as: "attendee", body: patch, type: "application/vnd.api+json").status
            }
            #expect(try await call(.get, pending, as: "attendee").status == 200)
            #expect(try await edit() == 403)
            let box = #"{"role": "herald", "service": "sessions", "operation": "update", "allowed": true}"#
            let ticked = try await call(
                .patch, "/admin/permissions", as: "superAdmin", body: box, headers: [.ifMatch: "*"])
            #expect(ticked.status == 200, "\(ticked.text)")
            #expect(try await edit() == 200)

            let taken = try await Self.change(call, .post, "", #"{"name": "other"}"#)
            #expect(taken.status == 201, "\(taken.text)")
            let held = try await Self.change(call, .delete, "/herald")
            #expect(held.status == 409 && held.text.contains("1 grant gives the role 'herald'"), "\(held.text)")
            let renamed = try await Self.change(call, .patch, "/herald", #"{"name": "crier"}"#)
            #expect(renamed.status == 200 && renamed.json["customRoles"] == ["crier", "other"], "\(renamed.text)")
            #expect(try await Self.change(call, .delete, "/other").status == 200)
            fixture.forgetRoles()
            #expect(try await edit() == 200, "Its holders keep it")
            try await fixture.pool.query(
                "DELETE FROM role_assignment WHERE _id = $1", [.bytea(grant.bytes)])
            let removed = try await Self.change(call, .delete, "/crier")
            #expect(removed.status == 200 && removed.json["customRoles"] == [], "\(removed.text)")
            let after = try await fixture.pool.query(
                "SELECT content FROM tombolo.document WHERE kind = 'rules' ORDER BY version DESC LIMIT 1")[0, 0].string
            #expect(after == before, "Every byte is unchanged")
        }
    }

    @Test("a role that applies everywhere can list and edit the chosen classes in every event")
    func everywhere() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let body = #"{"name": "sales", "everywhere": true, "permissions": {"tickets": ["read", "update"]}}"#
            let added = try await Self.change(call, .post, "", body)
            #expect(added.status == 201, "\(added.text)")
            #expect(added.json["everywhereRoles"] == ["superAdmin", "admin", "sales"], "\(added.text)")
            _ = try await Self.give(fixture, "sales", to: "attendee", in: nil)
            fixture.forgetRoles()
            for ticket in [fixture.tickets[2], fixture.draftTicket] {
                let patch = #"{"data": {"type": "tickets", "id": "\#(ticket)", "attributes": {"price": 1}}}"#
                let answer = try await call(
                    .patch, "/api/tickets/\(ticket)", as: "attendee", body: patch, type: "application/vnd.api+json")
                #expect(answer.status == 200, "\(answer.text)")
                #expect(try await call(.delete, "/api/tickets/\(ticket)", as: "attendee").status == 403)
            }
            #expect(try await call(.get, "/api/sessions/\(fixture.draftSession)", as: "attendee").status == 404)
        }
    }

    @Test("the grid contains the platform's roles: super administrators with every box, and fixed")
    func platformRoles() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let grid = try await call(.get, "/admin/permissions", as: "admin").json
            #expect(grid["everywhereRoles"] == ["superAdmin", "admin"])
            let withClasses = grid["services"]?.list.filter { $0["classes"]?.list.isEmpty == false } ?? []
            for service in withClasses.compactMap({ $0["name"]?.text }) {
                let all: JSON = ["create": true, "read": true, "update": true, "delete": true]
                #expect(grid["permissions"]?["superAdmin"]?[service] == all, "\(service)")
            }
            #expect(grid["permissions"]?["admin"]?["events"]?["create"] == true)
            #expect(grid["permissions"]?["admin"]?["sessions"]?["read"] == false)
            #expect(grid["editableRoles"]?.list.contains("admin") == true)
            #expect(grid["editableRoles"]?.list.contains("superAdmin") == false)

            func box(_ service: String, _ operation: String, _ isAllowed: Bool) -> String {
                #"{"role": "admin", "service": "\#(service)", "operation": "\#(operation)", "allowed": \#(isAllowed)}"#
            }
            let pending = "/api/sessions/\(fixture.sessions[2])"
            #expect(try await call(.get, pending, as: "admin").status == 404)
            for (body, status) in [(box("sessions", "read", true), 200), (box("events", "delete", false), 200)] {
                let answer = try await call(
                    .patch, "/admin/permissions", as: "superAdmin", body: body, headers: [.ifMatch: "*"])
                #expect(answer.status == status, "\(answer.text)")
            }
            #expect(try await call(.get, pending, as: "admin").status == 200)
            // Administrators can't change their own boxes.
            let own = try await call(
                .patch, "/admin/permissions", as: "admin", body: box("sessions", "delete", true),
                headers: [.ifMatch: "*"])
            #expect(own.status == 403)
        }
    }

    @Test("only the super administrator can change roles, only added ones, and only at the version they saw")
    func refusals() async throws {
        try await ServiceFixture.withAdminServer { _, call in
            let body = #"{"name": "herald"}"#
            for user in ["admin", "owner", "organizer", "attendee"] {
                #expect(try await Self.change(call, .post, "", body, as: user).status == 403, "\(user)")
                #expect(try await Self.change(call, .delete, "/moderator", as: user).status == 403, "\(user)")
            }
            #expect(try await Self.change(call, .post, "", body, tag: nil).status == 428)
            #expect(try await Self.change(call, .post, "", body, tag: "\"1\"").status == 412)
            // The app's own roles, taken or hostile names, and roles that don't exist.
            for role in ["superAdmin", "admin", "owner", "organizer", "registrar", "nobody", "%2e%2e", "a%20b"] {
                let removed = try await Self.change(call, .delete, "/\(role)")
                #expect(removed.status == 422, "\(role): \(removed.text)")
                let renamed = try await Self.change(call, .patch, "/\(role)", #"{"name": "other"}"#)
                #expect(renamed.status == 422, "\(role): \(renamed.text)")
            }
            for name in ["superAdmin", "SUPERADMIN", "Owner", "x: {events: crud}", "a\\nb", "%%user.grants.owner", ""] {
                let answer = try await Self.change(call, .post, "", #"{"name": "\#(name)"}"#)
                #expect(answer.status == 422, "\(name): \(answer.text)")
            }
            for permissions in [
                #"{"nothing": ["read"]}"#, #"{"sessions": ["update"]}"#, #"{"sessions": ["read", "purge"]}"#,
            ] {
                let answer = try await Self.change(
                    call, .post, "", #"{"name": "x", "permissions": \#(permissions)}"#)
                #expect(answer.status == 422, "\(permissions): \(answer.text)")
            }
        }
    }

    @Test("a new role can't take a name that a grant already has: its holders would get the role unexpectedly")
    func namesOfGrantsFromBefore() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            _ = try await Self.give(fixture, "herald", to: "attendee", in: fixture.event)
            let added = try await Self.change(call, .post, "", #"{"name": "herald"}"#)
            #expect(
                added.status == 409 && added.text.contains("1 grant already gives the role 'herald'"), "\(added.text)")
            #expect(try await Self.change(call, .post, "", #"{"name": "crier"}"#).status == 201)
            let renamed = try await Self.change(call, .patch, "/crier", #"{"name": "herald"}"#)
            #expect(renamed.status == 409, "\(renamed.text)")
        }
    }

    @Test("a role held in a trashed event can't be renamed, because the database keeps its name there")
    func renamingInTheTrash() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            #expect(try await Self.change(call, .post, "", #"{"name": "herald"}"#).status == 201)
            _ = try await Self.give(fixture, "herald", to: "attendee", in: fixture.draft)
            try await fixture.pool.query(
                "UPDATE event SET trashed_at = now() WHERE _id = $1", [.bytea(fixture.draft.bytes)])
            let renamed = try await Self.change(call, .patch, "/herald", #"{"name": "crier"}"#)
            #expect(renamed.status == 409 && renamed.text.contains("in the trash"), "\(renamed.text)")
            let roles = try await call(.get, "/admin/permissions", as: "superAdmin").json["customRoles"]
            #expect(roles == ["herald"])
        }
    }

    @Test("if many add roles at the same time based on the same version, one succeeds")
    func atTheSameTime() async throws {
        try await ServiceFixture.withAdminServer { _, call in
            let tag = try #require(try await call(.get, "/admin/permissions", as: "superAdmin").headers[.eTag])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for name in ["a", "b", "c", "d"] {
                    group.addTask {
                        try await Self.change(call, .post, "", #"{"name": "\#(name)"}"#, tag: tag).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.sorted() == [201, 412, 412, 412])
        }
    }
}
