import AdminService
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PostgresClient
import ServiceTestSupport
import Testing
import TicketService
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite struct TrashTests {
    private static func run(
        _ body: @escaping @Sendable (ServiceFixture, Caller) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.adminServer.authenticator)
            let tickets = try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.ticketServer.authenticator)
            try await app.test(.router) { admin in
                try await tickets.test(.router) { events in
                    try await body(fixture, Caller(Servers(admin: admin, events: events), fixture))
                }
            }
        }
    }

    /// The admin server, and the conference's own for what is below `/events`.
    private struct Servers: TestClientProtocol {
        let admin: any TestClientProtocol
        let events: any TestClientProtocol
        var port: Int? { admin.port }

        func executeRequest(
            uri: String, method: HTTPRequest.Method, headers: HTTPFields, body: ByteBuffer?
        ) async throws -> TestResponse {
            try await (uri.hasPrefix("/events/") ? events : admin).executeRequest(
                uri: uri, method: method, headers: headers, body: body)
        }
    }

    private static func titles(_ answer: Answer) -> [String] {
        (answer.json["sessions"]?.list ?? []).compactMap { $0["title"]?.text }
    }

    @Test func aTrashedSessionIsGoneForEverybodyAndListedForTheAdmin() async throws {
        try await Self.run { fixture, call in
            let session = fixture.sessions[0]
            let list = "/events/\(fixture.event)/sessions"
            #expect(Self.titles(try await call(.get, list, as: "owner")) == ["Talk 1", "Talk 2", "Talk 3"])
            #expect(Self.titles(try await call(.get, list, as: "attendee")) == ["Talk 1", "Talk 2"])

            let moved = try await call(.post, "/admin/sessions/\(session)/trash", as: "admin")
            #expect(moved.status == 200, "\(moved.text)")
            #expect(moved.json["count"] == 1)
            #expect(Self.titles(try await call(.get, list, as: "owner")) == ["Talk 2", "Talk 3"])
            #expect(try await call(.delete, "/sessions/\(session)", as: "owner").status == 404)
            #expect(try await call(.post, "/admin/sessions/\(session)/trash", as: "admin").status == 404)

            let trash = try await call(.get, "/admin/trash", as: "admin")
            let item = try #require(trash.json["items"]?.list.first)
            #expect(trash.json["items"]?.list.count == 1)
            #expect(item["class"] == "Session")
            #expect(item["_id"]?.text == session.stringValue)
            #expect(item["trashedBy"]?.text == fixture.users["admin"]?.stringValue)
            #expect(item["trashedByName"] == "The admin")
            #expect(item["group"] == moved.json["group"])
            #expect(item["object"]?["title"] == "Talk 1")
            let days = try await fixture.pool.query(
                "SELECT extract(epoch FROM $1::text::timestamptz - $2::text::timestamptz)::bigint / 86400",
                [.text(item["purgeAt"]?.text), .text(item["trashedAt"]?.text)])
            #expect(try days[0, 0].int == Trash.retentionDays)
        }
    }

    @Test func restoringBringsBackTheSameIDsAndRelations() async throws {
        try await Self.run { fixture, call in
            let list = "/events/\(fixture.event)/sessions"
            let before = try await call(.get, list, as: "owner")
            #expect(before.json["sessions"]?.list.first?["speakers"]?.list.count == 2)
            let moved = try await call(.delete, "/sessions/\(fixture.sessions[1])", as: "organizer")
            #expect(moved.status == 200, "\(moved.text)")
            let group = try #require(moved.json["group"]?.text)
            let restored = try await call(.post, "/admin/trash/\(group)/restore", as: "admin")
            #expect(restored.status == 200, "\(restored.text)")
            #expect(restored.json["count"] == 1)
            #expect(try await call(.get, list, as: "owner").json == before.json)
            #expect(try await call(.post, "/admin/trash/\(group)/restore", as: "admin").status == 404)
            #expect(try await call(.get, "/admin/trash", as: "admin").json["items"] == [])
        }
    }

    @Test func anEventTakesItsSessionsAlongAndComesBackWithThem() async throws {
        try await Self.run { fixture, call in
            let early = try await call(.post, "/admin/sessions/\(fixture.sessions[2])/trash", as: "admin")
            let moved = try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin")
            #expect(moved.json["count"] == 3)
            #expect(try await call(.get, "/events/\(fixture.event)/sessions", as: "owner").status == 404)
            let items = try await call(.get, "/admin/trash?event=\(fixture.event)", as: "admin")
            #expect(items.json["items"]?.list.count == 4)
            #expect(
                try await call(.get, "/admin/trash?event=\(fixture.event)&class=Event", as: "admin")
                    .json["items"]?.list.count == 1)
            #expect(try await call(.get, "/admin/trash?event=\(fixture.draft)", as: "admin").json["items"] == [])

            // A session alone would come back to an event that is not there.
            for id in [early.json["group"]?.text, fixture.sessions[0].stringValue] {
                let alone = try await call(.post, "/admin/trash/\(try #require(id))/restore", as: "admin")
                #expect(alone.status == 409)
                #expect(alone.json["properties"] == ["event"])
                #expect(alone.json["hint"]?.text?.contains(fixture.event.stringValue) == true)
            }
            let group = try #require(moved.json["group"]?.text)
            #expect(try await call(.post, "/admin/trash/\(group)/restore", as: "admin").json["count"] == 3)
            let sessions = try await call(.get, "/events/\(fixture.event)/sessions", as: "owner")
            #expect(Self.titles(sessions) == ["Talk 1", "Talk 2"])
            #expect(try await call(.post, "/admin/trash/\(fixture.sessions[2])/restore", as: "admin").status == 200)
        }
    }

    @Test func aTakenEmailIsAConflictThatNamesTheProperty() async throws {
        try await Self.run { fixture, call in
            let user = try #require(fixture.users["attendee"])
            let moved = try await call(.post, "/admin/users/\(user)/trash", as: "admin")
            #expect(moved.status == 200, "\(moved.text)")
            let other = try await fixture.rows().insert(
                "User", ["email": .string(ServiceFixture.email("attendee")), "displayName": "Somebody else"])
            let clash = try await call(.post, "/admin/trash/\(user)/restore", as: "admin")
            #expect(clash.status == 409)
            #expect(clash.json["code"] == "conflict")
            #expect(clash.json["properties"] == ["email"])
            #expect(clash.json["hint"]?.text?.contains("email") == true)
            #expect(!clash.text.contains("attendee@"))
            try await fixture.rows().set("User", other, "email", "other@example.org")
            #expect(try await call(.post, "/admin/trash/\(user)/restore", as: "admin").status == 200)
        }
    }

    @Test("an administrator neither trashes nor restores a super administrator over HTTP")
    func superAdministratorsAreOutOfReach() async throws {
        try await Self.run { fixture, call in
            let top = try #require(fixture.users["superAdmin"])
            let refused = try await call(.post, "/admin/users/\(top)/trash", as: "admin")
            #expect(refused.status == 403, "\(refused.text)")
            for role in ["owner", "organizer", "attendee"] {
                #expect(try await call(.post, "/admin/users/\(top)/trash", as: role).status == 403)
            }
            #expect(try await call(.post, "/admin/users/\(top)/trash", as: "superAdmin").status == 200)
            #expect(try await call(.post, "/admin/trash/\(top)/restore", as: "admin").status == 403)
            let admin = try #require(fixture.users["admin"])
            #expect(try await call(.post, "/admin/users/\(admin)/trash", as: "admin").status == 200)
        }
    }

    @Test func whoMayTrashASession() async throws {
        try await Self.run { fixture, call in
            for role in ["attendee", "registrar", "coorganizer", "stranger"] {
                let answer = try await call(.delete, "/sessions/\(fixture.sessions[0])", as: role)
                #expect(answer.status == 403, "\(role): \(answer.text)")
            }
            // What they may not see does not exist for them.
            #expect(try await call(.delete, "/sessions/\(fixture.draftSession)", as: "organizer").status == 404)
            #expect(try await call(.delete, "/sessions/\(ObjectId.generate())", as: "organizer").status == 404)
            for (index, role) in ["owner", "organizer", "superAdmin"].enumerated() {
                #expect(
                    try await call(.delete, "/sessions/\(fixture.sessions[index])", as: role).status == 200, "\(role)")
            }
        }
    }

    @Test func noParameterShowsTheTrashToOthers() async throws {
        try await Self.run { fixture, call in
            _ = try await call(.post, "/admin/sessions/\(fixture.sessions[0])/trash", as: "admin")
            for query in ["get_trashed=true", "trashed=1", "deleted_at=null", "include=trash", "class=Session"] {
                let answer = try await call(.get, "/events/\(fixture.event)/sessions?\(query)", as: "owner")
                #expect(!answer.text.contains("Talk 1"))
                let list = try await call(.get, "/admin/trash?\(query)", as: "owner")
                #expect(list.status == 403)
                #expect(list.text.contains("no role lets you list trashed objects"), "\(list.text)")
            }
        }
    }

    @Test func theListComesInPagesNewestFirst() async throws {
        try await Self.run { fixture, call in
            for index in 0..<(TrashList.pageSize + 10) {
                let id = try await fixture.rows().insert(
                    "Session", ["event": .objectId(fixture.event), "title": .string("S\(index)"), "state": "draft"])
                try await fixture.pool.query(
                    "SELECT tombolo.trash('Session', $1, 'script', gen_random_uuid())", [.text(id.stringValue)])
            }
            let first = try await call(.get, "/admin/trash?page=1", as: "admin").json
            let second = try await call(.get, "/admin/trash?page=2", as: "admin").json
            #expect(first["items"]?.list.count == TrashList.pageSize && first["hasMore"] == true)
            #expect(second["items"]?.list.count == 10 && second["hasMore"] == false)
            let all = (first["items"]?.list ?? []) + (second["items"]?.list ?? [])
            #expect(Set(all.compactMap { $0["_id"]?.text }).count == TrashList.pageSize + 10)
            #expect(all.first?["object"]?["title"]?.text == "S\(TrashList.pageSize + 9)")
            #expect(all.first?["trashedBy"] == "script" && all.first?["trashedByName"] == .null)
        }
    }

    @Test(arguments: [
        "page=0", "page=-1", "page=x", "page=99999999999999999999", "class=Ticket", "class=", "event=x",
        "class=Session'--",
    ])
    func aWrongParameterIsNamed(query: String) async throws {
        try await Self.run { _, call in
            let answer = try await call(.get, "/admin/trash?\(query)", as: "admin")
            #expect(answer.status == 400, "\(answer.text)")
            #expect(answer.json["message"]?.text?.contains("'\(query.prefix { $0 != "=" })'") == true)
        }
    }

    @Test(arguments: ["x", "%00", "'%20OR%201=1", "..%2F..", "000000000000000000000000", "{id}"])
    func hostileIDsAreAnsweredWithoutAnError(id: String) async throws {
        try await Self.run { _, call in
            for (method, path) in [
                (HTTPRequest.Method.post, "/admin/sessions/\(id)/trash"), (.post, "/admin/users/\(id)/trash"),
                (.post, "/admin/trash/\(id)/restore"), (.delete, "/sessions/\(id)"), (.get, "/events/\(id)/sessions"),
            ] {
                let answer = try await call(method, path, as: "superAdmin")
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status) \(answer.text)")
            }
        }
    }
}
