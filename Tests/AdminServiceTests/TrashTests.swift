import AdminService
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PostgresClient
import PostgresValues
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

    /// The admin server, and the ticket server for everything below `/events`.
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

    @Test("the list contains objects that a service trashed at infinitely late or early times")
    func infiniteTimes() async throws {
        try await Self.run { fixture, call in
            // The second time is later than the server can read, and nothing can be added to it.
            for (session, time) in zip(fixture.sessions, ["infinity", "294276-12-31 23:59:59+00", "-infinity"]) {
                try await fixture.pool.query(
                    "UPDATE session SET trashed_at = '\(time)' WHERE _id = $1", [.objectId(session)])
            }
            let trash = try await call(.get, "/admin/trash", as: "admin")
            #expect(trash.status == 200, "\(trash.text)")
            let items = trash.json["items"]?.list ?? []
            #expect(items.map { $0["_id"]?.text } == fixture.sessions.map(\.stringValue))
            #expect(items.prefix(2).allSatisfy { $0["purgeAt"] == .null }, "\(items)")
            #expect(items.last?["purgeAt"] == items.last?["trashedAt"])
        }
    }

    @Test("objects of any size are listed, but without their properties where they would make the page too large")
    func largeObjects() async throws {
        try await Self.run { fixture, call in
            try await fixture.pool.execute(
                "UPDATE session SET long_abstract = repeat('x', 12000000), trashed_at = now()")
            let trash = try await call(.get, "/admin/trash?class=Session", as: "admin")
            #expect(trash.status == 200, "\(trash.text.prefix(2_000))")
            let items = trash.json["items"]?.list ?? []
            #expect(items.count >= 3 && items.allSatisfy { $0["address"] != .null && $0["object"] == .null })
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
            let tickets = "/events/\(fixture.event)/tickets"
            let order = try await call(.get, tickets, as: "owner").json
            let early = try await call(.post, "/admin/sessions/\(fixture.sessions[2])/trash", as: "admin")
            let moved = try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin")
            // Includes two sessions, five tickets, two speakers and a room.
            #expect(moved.json["count"] == 11)
            #expect(try await call(.get, "/events/\(fixture.event)/sessions", as: "owner").status == 404)
            let items = try await call(.get, "/admin/trash?event=\(fixture.event)", as: "admin")
            #expect(items.json["items"]?.list.count == 12)
            #expect(
                try await call(.get, "/admin/trash?event=\(fixture.event)&class=Event", as: "admin")
                    .json["items"]?.list.count == 1)
            #expect(try await call(.get, "/admin/trash?event=\(fixture.draft)", as: "admin").json["items"] == [])

            // A session alone would be restored into an event that doesn't exist.
            for id in [early.json["group"]?.text, fixture.sessions[0].stringValue] {
                let alone = try await call(.post, "/admin/trash/\(try #require(id))/restore", as: "admin")
                #expect(alone.status == 409)
                #expect(alone.json["properties"] == ["event"])
                #expect(alone.json["hint"]?.text?.contains(fixture.event.stringValue) == true)
                let parent = alone.json["details"]?["parent"]
                #expect(parent?["class"] == "Event" && parent?["_id"]?.text == fixture.event.stringValue)
            }
            let group = try #require(moved.json["group"]?.text)
            #expect(try await call(.post, "/admin/trash/\(group)/restore", as: "admin").json["count"] == 11)
            #expect(try await call(.get, tickets, as: "owner").json == order)
            let sessions = try await call(.get, "/events/\(fixture.event)/sessions", as: "owner")
            #expect(Self.titles(sessions) == ["Talk 1", "Talk 2"])
            #expect(try await call(.post, "/admin/trash/\(fixture.sessions[2])/restore", as: "admin").status == 200)
        }
    }

    @Test("a session stays when its room is trashed, and can be restored while the room is in the trash")
    func roomsGoAlone() async throws {
        try await Self.run { fixture, call in
            let moved = try await call(.delete, "/microlocations/\(fixture.room)", as: "organizer")
            #expect(moved.status == 200 && moved.json["count"] == 1, "\(moved.text)")
            let sessions = "/events/\(fixture.event)/sessions"
            #expect(Self.titles(try await call(.get, sessions, as: "owner")).count == 3)
            #expect(try await call(.delete, "/sessions/\(fixture.sessions[0])", as: "organizer").status == 200)
            let restored = try await call(.post, "/admin/trash/\(fixture.sessions[0])/restore", as: "admin")
            #expect(restored.status == 200, "\(restored.text)")
        }
    }

    @Test("a speaker's contact is trashed and restored with them, and administrators can't see it in between")
    func contactsComeBackWithTheirSpeaker() async throws {
        try await Self.run { fixture, call in
            let speaker = fixture.speakers[0]
            try await fixture.rows().insert(
                "SpeakerContact",
                ["event": .objectId(fixture.event), "speaker": .objectId(speaker), "email": "ada@example.org"])
            let moved = try await call(.delete, "/speakers/\(speaker)", as: "owner")
            #expect(moved.json["count"] == 2, "\(moved.text)")
            // As elsewhere, administrators can't see contact addresses in the trash.
            let list = try await call(.get, "/admin/trash", as: "admin")
            #expect(list.json["items"]?.list.count == 1 && !list.text.contains("ada@example.org"), "\(list.text)")
            #expect(try await call(.get, "/admin/trash?class=SpeakerContact", as: "admin").status == 403)
            let group = try #require(moved.json["group"]?.text)
            #expect(try await call(.post, "/admin/trash/\(group)/restore", as: "admin").json["count"] == 2)
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
            let choice = try #require(clash.json["details"]?["clashes"]?.list.first)
            #expect(choice["class"] == "User" && choice["_id"]?.text == user.stringValue)
            #expect(choice["properties"] == ["email"] && choice["live"]?.text == other.stringValue)
            #expect(choice["choices"] == ["values", "swap"], "\(clash.text)")
            try await fixture.rows().set("User", other, "email", "other@example.org")
            #expect(try await call(.post, "/admin/trash/\(user)/restore", as: "admin").status == 200)
        }
    }

    @Test("a clash is settled with new values, by leaving the object behind, or by swapping it with the live one")
    func choices() async throws {
        try await Self.run { fixture, call in
            let rows = fixture.rows()
            let user = try #require(fixture.users["attendee"])
            let path = "/admin/trash/\(user)/restore"
            func users(_ condition: String) async throws -> Set<ObjectId> {
                Set(try await fixture.pool.query("SELECT _id FROM users WHERE \(condition)").map { try $0[0].objectId })
            }
            #expect(try await call(.post, "/admin/users/\(user)/trash", as: "admin").status == 200)
            let other = try await rows.insert(
                "User", ["email": .string(ServiceFixture.email("attendee")), "displayName": "Somebody else"])
            // Values that can't be written or aren't about a clash are refused, and nothing is restored.
            for (body, status) in [
                (#"{"values": {"\#(user)": {"email": 7}}}"#, 422), (#"{"values": {"\#(user)": {"email": null}}}"#, 422),
                (#"{"values": {"\#(user)": {"displayName": "Eve"}}}"#, 422),
                (#"{"values": {"\#(user)": {"isSuperAdmin": true}}}"#, 422),
                (#"{"values": {"\#(user)": {"email": "owner@example.org"}}}"#, 409),
                (#"{"leave": ["\#(user)"]}"#, 422), (#"{"swap": ["\#(other)"]}"#, 422), (#"{"swap": "all"}"#, 400),
                (#"{"swop": []}"#, 400), ("[]", 400),
                (#"{"leave": ["\#(user)"], "swap": ["\#(user)"]}"#, 400),
            ] {
                let answer = try await call(.post, path, as: "admin", body: body)
                #expect(answer.status == status, "\(body): \(answer.text)")
            }
            #expect(try await users("trashed_at IS NOT NULL") == [user])

            let renamed = try await call(
                .post, path, as: "admin", body: #"{"values": {"\#(user)": {"email": "back@example.org"}}}"#)
            #expect(renamed.status == 200, "\(renamed.text)")
            #expect(try await users("trashed_at IS NULL AND email = 'back@example.org'") == [user])
            let account = try await fixture.pool.query(
                "SELECT email FROM tombolo.account WHERE id = $1", [.objectId(user)])
            #expect(try account[0, 0].string == "back@example.org")

            #expect(try await call(.post, "/admin/users/\(user)/trash", as: "admin").status == 200)
            try await rows.set("User", other, "email", "back@example.org")
            let swapped = try await call(.post, path, as: "admin", body: #"{"swap": ["\#(user)"]}"#)
            #expect(swapped.status == 200 && swapped.json["count"] == 1, "\(swapped.text)")
            #expect(try await users("trashed_at IS NOT NULL") == [other])
            let trashed = try await call(.get, "/admin/trash", as: "admin").json["items"]?.list.first
            #expect(trashed?["trashedBy"]?.text == fixture.users["admin"]?.stringValue)
        }
    }

    @Test("a live object that the caller may not trash is neither swapped nor offered for a swap")
    func swappingTakesTheRightToTrash() async throws {
        try await Self.run { fixture, call in
            let user = try #require(fixture.users["attendee"])
            let top = try #require(fixture.users["superAdmin"])
            #expect(try await call(.post, "/admin/users/\(user)/trash", as: "admin").status == 200)
            try await fixture.pool.execute(
                "UPDATE users SET email = '\(ServiceFixture.email("superAdmin"))' WHERE trashed_at IS NOT NULL")
            let path = "/admin/trash/\(user)/restore"
            let clash = try await call(.post, path, as: "admin")
            #expect(clash.json["details"]?["clashes"]?.list.first?["choices"] == ["values"], "\(clash.text)")
            let swap = #"{"swap": ["\#(user)"]}"#
            #expect(try await call(.post, path, as: "admin", body: swap).status == 403)
            #expect(
                try await fixture.pool.query(
                    "SELECT 1 FROM users WHERE _id = $1 AND trashed_at IS NULL", [.objectId(top)]
                ).count == 1)
        }
    }

    @Test(
        "a ticket whose place was taken is left behind, the rest of its group is restored, and later it gets a new place"
    )
    func leaving() async throws {
        try await Self.run { fixture, call in
            let moved = try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin")
            let group = try #require(moved.json["group"]?.text)
            try await fixture.rows().insert(
                "Ticket",
                [
                    "event": .objectId(fixture.event), "name": "New", "rank": "a1", "kind": "free", "currency": "EUR",
                ])
            let ticket = fixture.tickets[1]
            let clash = try await call(.post, "/admin/trash/\(group)/restore", as: "superAdmin")
            let choice = clash.json["details"]?["clashes"]?.list.first
            #expect(choice?["properties"] == ["event", "rank"] && choice?["_id"]?.text == ticket.stringValue)
            #expect(choice?["choices"] == ["values", "leave", "swap"], "\(clash.text)")
            let left = try await call(
                .post, "/admin/trash/\(group)/restore", as: "superAdmin", body: #"{"leave": ["\#(ticket)"]}"#)
            #expect(left.json["count"] == 11, "\(left.text)")
            let back = try await call(
                .post, "/admin/trash/\(ticket)/restore", as: "superAdmin",
                body: #"{"values": {"\#(ticket)": {"rank": "a1V"}}}"#)
            #expect(back.status == 200, "\(back.text)")
            let list = try await call(.get, "/events/\(fixture.event)/tickets", as: "owner")
            #expect(
                list.json["tickets"]?.list.compactMap { $0["name"]?.text }
                    == ["Early", "New", "Regular", "Staff", "Student", "Supporter"])
        }
    }

    @Test("deleting a group forever deletes all of it and nothing else, and takes the right to purge")
    func deletingForEver() async throws {
        try await Self.run { fixture, call in
            let early = try await call(.post, "/admin/sessions/\(fixture.sessions[2])/trash", as: "admin")
            let moved = try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin")
            let group = try #require(moved.json["group"]?.text)
            for role in ["admin", "owner", "stranger"] {
                #expect(try await call(.delete, "/admin/trash/\(group)", as: role).status == 403, "\(role)")
            }
            let gone = try await call(.delete, "/admin/trash/\(group)", as: "superAdmin")
            #expect(gone.status == 200 && gone.json["count"] == 11, "\(gone.text)")
            #expect(try await call(.delete, "/admin/trash/\(group)", as: "superAdmin").status == 404)
            let left = try await call(.get, "/admin/trash", as: "admin")
            #expect(left.json["items"]?.list.map { $0["group"] } == [early.json["group"]])
            #expect(try await fixture.pool.query("SELECT 1 FROM event").count == 1)
            // An object that isn't in the trash can't be reached.
            #expect(try await call(.delete, "/admin/trash/\(fixture.draft)", as: "superAdmin").status == 404)
        }
    }

    @Test("objects that the database keeps are named with the reason, and the rest of their group stays too")
    func keptRows() async throws {
        try await Self.run { fixture, call in
            try await fixture.pool.execute(
                """
                CREATE TABLE invoice (ticket bytea REFERENCES ticket (_id));
                INSERT INTO invoice SELECT _id FROM ticket WHERE rank = 'a1' AND event IS NOT NULL LIMIT 1;
                CREATE FUNCTION public.keep_talks() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE EXCEPTION 'talks are kept for the archive'; END$$;
                CREATE TRIGGER keep BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION public.keep_talks()
                """)
            let tickets = try await call(.delete, "/tickets/\(fixture.tickets[1])", as: "owner")
            let session = try await call(.delete, "/sessions/\(fixture.sessions[0])", as: "owner")
            for (answer, id, reason) in [
                (tickets, fixture.tickets[1], "'invoice' refers to it"),
                (session, fixture.sessions[0], "talks are kept for the archive"),
            ] {
                let group = try #require(answer.json["group"]?.text)
                let kept = try await call(.delete, "/admin/trash/\(group)", as: "superAdmin")
                #expect(kept.status == 409, "\(kept.text)")
                #expect(kept.json["message"]?.text?.contains(id.stringValue) == true)
                #expect(kept.json["message"]?.text?.contains(reason) == true, "\(kept.text)")
            }
            // Emptying leaves both, says so, and deletes the rest.
            #expect(try await call(.delete, "/tickets/\(fixture.tickets[0])", as: "owner").status == 200)
            let emptied = try await call(.post, "/admin/trash/empty", as: "superAdmin")
            #expect(emptied.json["count"] == 1 && emptied.json["groups"] == 1, "\(emptied.text)")
            #expect(emptied.json["kept"]?.list.count == 2 && emptied.json["next"] == .null)
        }
    }

    @Test("emptying works by class and properties, on whole groups only, and a bounded number per request")
    func emptying() async throws {
        try await Self.run { fixture, call in
            for index in 0..<120 {
                let id = try await fixture.rows().insert(
                    "Sponsor", ["event": .objectId(fixture.draft), "name": .string("S\(index)")])
                try await fixture.pool.query(
                    "SELECT tombolo.trash('Sponsor', $1, 'script', NULL)", [.text(id.stringValue)])
            }
            #expect(try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin").status == 200)
            #expect(try await call(.post, "/admin/trash/empty", as: "admin").status == 403)
            #expect(try await call(.post, "/admin/trash/empty?class=Nothing", as: "superAdmin").status == 400)
            #expect(try await call(.post, "/admin/trash/empty?after=x", as: "superAdmin").status == 400)
            // The event's group contains sessions, but not only sessions.
            let none = try await call(.post, "/admin/trash/empty?class=Session", as: "superAdmin")
            #expect(none.json["count"] == 0 && none.json["kept"]?.list.count == 1, "\(none.text)")
            let path = "/admin/trash/empty?class=Sponsor&event=\(fixture.draft)"
            let first = try await call(.post, path, as: "superAdmin")
            #expect(first.json["count"] == 100, "\(first.text)")
            let next = try #require(first.json["next"]?.text)
            let second = try await call(.post, "\(path)&after=\(next)", as: "superAdmin")
            #expect(second.json["count"] == 20 && second.json["next"] == .null, "\(second.text)")
            let all = try await call(.post, "/admin/trash/empty", as: "superAdmin")
            #expect(all.json["count"] == 12)
            #expect(try await call(.get, "/admin/trash", as: "admin").json["items"] == [])
        }
    }

    @Test("an administrator can neither trash nor restore a super administrator over HTTP")
    func superAdministratorsAreOutOfReach() async throws {
        try await Self.run { fixture, call in
            let top = try #require(fixture.users["superAdmin"])
            let refused = try await call(.post, "/admin/users/\(top)/trash", as: "admin")
            #expect(refused.status == 403, "\(refused.text)")
            for role in ["owner", "organizer", "attendee"] {
                #expect(try await call(.post, "/admin/users/\(top)/trash", as: role).status == 403)
            }
            // The last one stays, but if there are two, one may go.
            #expect(try await call(.post, "/admin/users/\(top)/trash", as: "superAdmin").status == 422)
            let second = try #require(fixture.users["attendee"])
            try await fixture.rows().insert("RoleAssignment", ["user": .objectId(second), "role": "superAdmin"])
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
            // For these users, an object that they may not see doesn't exist.
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
                #expect(list.text.contains("you may not view the trash"), "\(list.text)")
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
        "page=0", "page=-1", "page=x", "page=99999999999999999999", "class=RoleAssignment", "class=", "event=x",
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
                (.post, "/admin/trash/\(id)/restore"), (.delete, "/admin/trash/\(id)"), (.delete, "/sessions/\(id)"),
                (.get, "/events/\(id)/sessions"),
            ] {
                let answer = try await call(method, path, as: "superAdmin")
                #expect([400, 404].contains(answer.status), "\(path): \(answer.status) \(answer.text)")
            }
        }
    }
}
