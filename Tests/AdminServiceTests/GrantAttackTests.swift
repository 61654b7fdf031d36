import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloChangesets
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Nobody can give themselves a role, or give anybody a role above their own: every user × role × operation.
@Suite struct GrantAttackTests {
    private static let media = "application/vnd.api+json"
    private static let atomic = #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#
    private static let ofEvents = ["owner", "organizer", "coorganizer", "trackOrganizer", "moderator", "registrar"]
    private static let roles = ["superAdmin", "admin"] + ofEvents

    /// The roles that each user may give, within the fixture's event and everywhere. Users not listed can't give any.
    fileprivate static let givers: [String: (within: Set<String>, everywhere: Set<String>)] = [
        "superAdmin": (Set(roles), Set(roles)),
        "admin": (Set(roles).subtracting(["superAdmin"]), Set(roles).subtracting(["superAdmin"])),
        "owner": (Set(ofEvents).subtracting(["owner"]), []),
        "organizer": ([], []), "coorganizer": ([], []), "registrar": ([], []), "attendee": ([], []),
        "stranger": ([], []),
    ]

    private static func grant(_ user: ObjectId, _ role: String, _ event: ObjectId?) -> String {
        let link =
            event.map { #", "event": {"data": {"type": "events", "id": "\#($0)"}}"# } ?? ""
        return #"""
            {"type": "role_assignments", "attributes": {"role": "\#(role)"}, "relationships": {
            "user": {"data": {"type": "users", "id": "\#(user)"}}\#(link)}}
            """#
    }

    private static func table(_ fixture: ServiceFixture) async throws -> [String] {
        try await fixture.pool.query("SELECT t::text FROM role_assignment t ORDER BY 1").map { try $0[0].string }
    }

    @Test(
        "the same people can give the same roles over HTTP and over sync, and nobody can give more",
        arguments: givers.keys)
    func giving(actor: String) async throws {
        let allowed = try #require(Self.givers[actor])
        try await JSONAPIReadingTests.run { fixture, call in
            let target = try #require(fixture.users["attendee"])
            let user = try #require(fixture.users[actor])
            fixture.forgetRoles()
            let access = fixture.rules.access(of: try await fixture.authenticator.subject(of: user))
            let index = try #require(fixture.rules.schema.index(of: "RoleAssignment"))
            let item = fixture.rules.schema[index]
            let before = try await Self.table(fixture)
            for (scope, expected) in [(fixture.event, allowed.within), (nil, allowed.everywhere)] {
                for role in Self.roles {
                    let isAllowed = expected.contains(role)
                    // Over sync, the same rules check each object.
                    var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
                    row[try #require(item.columnIndex("user"))] = .objectId(target)
                    row[try #require(item.columnIndex("role"))] = .string(role)
                    row[try #require(item.columnIndex("event"))] = scope.map(Value.objectId) ?? .null
                    for request in [
                        WriteRequest(operation: .create, classIndex: index, old: nil, new: row),
                        WriteRequest(operation: .delete, classIndex: index, old: row, new: nil),
                    ] {
                        #expect(
                            (access.permit(request) == nil) == isAllowed,
                            "\(actor) \(request.operation) \(role) in \(String(describing: scope))")
                    }
                    guard !isAllowed else { continue }
                    for receiver in [target, user] {
                        let data = Self.grant(receiver, role, scope)
                        let made = try await call(
                            .post, "/api/role_assignments", as: actor, body: #"{"data": \#(data)}"#, type: Self.media)
                        #expect(made.status == 403, "\(actor) \(role): \(made.text)")
                        let operation = #"{"atomic:operations": [{"op": "add", "data": \#(data)}]}"#
                        let atomic = try await call(
                            .post, "/api/operations", as: actor, body: operation, type: Self.atomic)
                        #expect(atomic.status == 403, "\(actor) \(role): \(atomic.text)")
                    }
                }
            }
            #expect(try await Self.table(fixture) == before)
        }
    }

    @Test(
        "nobody moves a grant to a role, user or event beyond what they may give, and nobody removes a role above their own",
        arguments: ["admin", "owner", "organizer", "coorganizer", "registrar", "attendee", "stranger"])
    func moving(actor: String) async throws {
        let allowed = try #require(Self.givers[actor])
        try await JSONAPIReadingTests.run { fixture, call in
            let user = try #require(fixture.users[actor])
            let rows = try await fixture.pool.query(
                #"SELECT encode(_id, 'hex'), "user", role, event FROM role_assignment ORDER BY role"#
            ).map { row in
                (
                    id: try row[0].string, user: try row[1].bytes, role: try row[2].string,
                    event: try row[3].nonNull?.bytes
                )
            }
            let before = try await Self.table(fixture)
            let events =
                [("null", ObjectId?.none)]
                + [fixture.event, fixture.draft].map { event in
                    (#"{"type": "events", "id": "\#(event)"}"#, event)
                }
            for row in rows {
                let isOwn = row.event == nil || row.event == fixture.event.bytes
                func may(_ role: String, in event: [UInt8]?) -> Bool {
                    if actor == "admin" { return allowed.within.contains(role) }
                    return event == fixture.event.bytes && allowed.within.contains(role)
                }
                let mayOld = may(row.role, in: row.event)
                var changes: [(body: String, isAllowed: Bool)] = Self.roles.map { role in
                    (#""attributes": {"role": "\#(role)"}"#, mayOld && may(role, in: row.event))
                }
                changes.append(
                    (
                        #""relationships": {"user": {"data": {"type": "users", "id": "\#(user)"}}}"#,
                        mayOld
                    ))
                for (data, event) in events {
                    changes.append(
                        (#""relationships": {"event": {"data": \#(data)}}"#, mayOld && may(row.role, in: event?.bytes)))
                }
                for change in changes where !change.isAllowed {
                    let data = #"{"type": "role_assignments", "id": "\#(row.id)", \#(change.body)}"#
                    let patched = try await call(
                        .patch, "/api/role_assignments/\(row.id)", as: actor, body: #"{"data": \#(data)}"#,
                        type: Self.media)
                    // Even setting the value that is already there is refused.
                    #expect(
                        [403, 404].contains(patched.status),
                        "\(actor) \(row.role) \(isOwn): \(change.body) \(patched.text)")
                    let operation = #"{"atomic:operations": [{"op": "update", "data": \#(data)}]}"#
                    let atomic = try await call(.post, "/api/operations", as: actor, body: operation, type: Self.atomic)
                    #expect([403, 404].contains(atomic.status), "\(actor) \(row.role): \(atomic.text)")
                }
                if !mayOld {
                    let removed = try await call(.delete, "/api/role_assignments/\(row.id)", as: actor)
                    #expect([403, 404].contains(removed.status), "\(actor) \(row.role): \(removed.text)")
                }
            }
            #expect(try await Self.table(fixture) == before)
        }
    }

    @Test("even the last super administrator can't remove that role over HTTP, and the answer says why")
    func theLastSuperAdministrator() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let user = try #require(fixture.users["superAdmin"])
            let id = try await fixture.pool.query(
                "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'superAdmin'")[0, 0].string
            let before = try await Self.table(fixture)
            let demotion = #"{"data": {"type": "role_assignments", "id": "\#(id)", "attributes": {"role": "admin"}}}"#
            for answer in [
                try await call(.delete, "/api/role_assignments/\(id)", as: "superAdmin"),
                try await call(
                    .patch, "/api/role_assignments/\(id)", as: "superAdmin", body: demotion, type: Self.media),
                try await call(.delete, "/api/users/\(user)", as: "superAdmin"),
                try await call(.post, "/admin/users/\(user)/trash", as: "superAdmin"),
                try await call(.delete, "/users/\(user)", as: "superAdmin"),
            ] {
                #expect(answer.status == 422, "\(answer.text)")
                #expect(answer.text.contains("The last super administrator stays."), "\(answer.text)")
            }
            #expect(try await Self.table(fixture) == before)
            #expect(try await call(.get, "/admin/trash", as: "superAdmin").status == 200)
        }
    }

    @Test("owners keep their event over HTTP, and only the owner and super administrators can transfer it")
    func transferring() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let (owner, organizer) = (try #require(fixture.users["owner"]), try #require(fixture.users["organizer"]))
            let attendee = try #require(fixture.users["attendee"])
            func body(_ event: ObjectId, _ user: ObjectId) -> String { #"{"scope": "\#(event)", "to": "\#(user)"}"# }
            func roles(_ user: ObjectId) async throws -> [String] {
                try await fixture.pool.query(
                    #"SELECT role FROM role_assignment WHERE "user" = $1 AND event = $2 ORDER BY role"#,
                    [.objectId(user), .objectId(fixture.event)]
                ).map { try $0[0].string }
            }
            for role in ["admin", "organizer", "coorganizer", "registrar", "attendee"] {
                let to = try #require(fixture.users[role])
                let answer = try await call(.post, "/roles/transfer", as: role, body: body(fixture.event, to))
                #expect(answer.status == 403, "\(role): \(answer.text)")
            }
            // An owner of another event learns nothing about this one.
            let refused = try await call(.post, "/roles/transfer", as: "stranger", body: body(fixture.event, attendee))
            let unknown = try await call(.post, "/roles/transfer", as: "stranger", body: body(.generate(), attendee))
            #expect(refused.status == 403 && unknown.status == 403)
            #expect(refused.json["error"] == unknown.json["error"])
            #expect(try await call(.post, "/roles/transfer", body: body(fixture.event, attendee)).status == 401)
            #expect(try await roles(owner) == ["owner"])
            for (text, status) in [
                (#"{"scope": "x", "to": "\#(attendee)"}"#, 422), (#"{"scope": "\#(fixture.event)", "to": "x"}"#, 422),
                (#"{"scope": "\#(fixture.event)", "to": "\#(ObjectId.generate())"}"#, 409),
                (#"{"scope": "\#(fixture.event)", "to": "\#(owner)"}"#, 409),
                (#"{"scope": "\#(fixture.event)", "to": "\#(attendee)", "role": "organizer"}"#, 422),
                (#"{"scope": "\#(fixture.event)", "to": "\#(attendee)", "class": "User"}"#, 422), ("{}", 400),
            ] {
                let answer = try await call(.post, "/roles/transfer", as: "owner", body: text)
                #expect(answer.status == status, "\(text): \(answer.text)")
            }

            let done = try await call(.post, "/roles/transfer", as: "owner", body: body(fixture.event, organizer))
            #expect(done.status == 200 && done.json["left"] == "organizer", "\(done.text)")
            #expect(try await roles(owner) == ["organizer"])
            #expect(try await roles(organizer) == ["owner"])
            // The new roles apply immediately.
            let again = try await call(.post, "/roles/transfer", as: "owner", body: body(fixture.event, owner))
            #expect(again.status == 403, "\(again.text)")
            let back = try await call(.post, "/roles/transfer", as: "superAdmin", body: body(fixture.event, attendee))
            #expect(back.status == 200, "\(back.text)")
            #expect(try await roles(attendee) == ["owner"])
            #expect(try await roles(organizer) == ["organizer"])
            _ = try await call(.post, "/admin/events/\(fixture.event)/trash", as: "admin")
            let trashed = try await call(.post, "/roles/transfer", as: "attendee", body: body(fixture.event, owner))
            #expect(trashed.status == 409 && trashed.text.contains("in the trash"), "\(trashed.text)")
        }
    }

    @Test("nobody can take an event without an owner, but super administrators can give it one")
    func withoutOwner() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let event = ObjectId.generate()
            try await fixture.pool.query(
                "INSERT INTO event (_id, name) VALUES ($1, 'Nobody''s')", [.objectId(event)])
            func body(_ event: ObjectId, _ user: ObjectId) -> String { #"{"scope": "\#(event)", "to": "\#(user)"}"# }
            for role in ["attendee", "stranger", "owner", "organizer", "admin"] {
                let me = try #require(fixture.users[role])
                let answer = try await call(.post, "/roles/transfer", as: role, body: body(event, me))
                #expect(answer.status == 403, "\(role): \(answer.text)")
                let unknown = try await call(.post, "/roles/transfer", as: role, body: body(.generate(), me))
                #expect(
                    answer.json["error"] == unknown.json["error"], "the answer doesn't reveal whether the event exists")
            }
            let stranger = try #require(fixture.users["stranger"])
            let given = try await call(.post, "/roles/transfer", as: "superAdmin", body: body(event, stranger))
            #expect(given.status == 200 && given.json["from"] == .null, "\(given.text)")
        }
    }

    @Test("an event with the same id as a role in another event still gets its owner")
    func takenKey() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let (attendee, organizer) = (
                try #require(fixture.users["attendee"]), try #require(fixture.users["organizer"])
            )
            let taken = try await fixture.pool.query(
                #"SELECT _id FROM role_assignment WHERE "user" = $1"#, [.objectId(organizer)])[0, 0].objectId
            try await fixture.pool.query(
                "INSERT INTO event (_id, name, creator) VALUES ($1, 'Theirs', $2)",
                [.objectId(taken), .objectId(attendee)])
            let owners = try await fixture.pool.query(
                #"SELECT "user" FROM role_assignment WHERE event = $1 AND role = 'owner'"#, [.objectId(taken)])
            #expect(try owners.map { try $0[0].objectId } == [attendee])
        }
    }

    @Test("no matter how many transfer an event at once, it has one owner, and nobody has a role twice")
    func transferringAtOnce() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let names = ["organizer", "coorganizer", "registrar", "attendee"]
            for round in 0..<4 {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for name in names {
                        let to = try #require(fixture.users[name])
                        group.addTask {
                            try await call(
                                .post, "/roles/transfer", as: round == 0 ? "owner" : "superAdmin",
                                body: #"{"scope": "\#(fixture.event)", "to": "\#(to)"}"#
                            ).status
                        }
                    }
                    var done = 0
                    for try await status in group {
                        #expect([200, 403, 409].contains(status), "\(status)")
                        if status == 200 { done += 1 }
                    }
                    // A former owner can't transfer it, even if the server still caches their old roles.
                    if round == 0 { #expect(done == 1) }
                }
                let counts = try await fixture.pool.query(
                    #"""
                    SELECT count(*) FILTER (WHERE role = 'owner' AND "user" IS NOT NULL),
                        count(*) - count(DISTINCT ("user", role)) FROM role_assignment WHERE event = $1
                    """#, [.objectId(fixture.event)])
                #expect(try counts[0, 0].int == 1 && counts[0, 1].int == 0)
            }
        }
    }
}
