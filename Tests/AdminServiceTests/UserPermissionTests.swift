import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloChangesets
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// What verified and unverified users may do without a role: stored boxes that apply over HTTP and to devices.
@Suite struct UserPermissionTests {
    private static let media = "application/vnd.api+json"

    private static func set(
        _ call: ServiceTestSupport.Caller, _ permission: String, _ group: String, _ isAllowed: Bool,
        as role: String = "superAdmin"
    ) async throws -> Answer {
        let body = #"{"permission": "\#(permission)", "group": "\#(group)", "allowed": \#(isAllowed)}"#
        return try await call(.patch, "/admin/permissions", as: role, body: body, headers: [.ifMatch: "*"])
    }

    private static func event(_ creator: ObjectId?, state: String = "draft") -> String {
        let link = creator.map { #", "creator": "\#($0)""# } ?? ""
        return #"""
            {"data": {"type": "events", "attributes": {"name": "Own", "identifier": "own", "timezone": "UTC",
            "startsAt": "2030-01-01T00:00:00Z", "endsAt": "2030-01-02T00:00:00Z", "state": "\#(state)",
            "privacy": "public"\#(link)}}}
            """#
    }

    private static func publish(_ event: ObjectId, _ state: String = "published") -> String {
        #"{"data": {"type": "events", "id": "\#(event)", "attributes": {"state": "\#(state)"}}}"#
    }

    /// What the same rules permit a device to do.
    private static func deviceMay(
        _ operation: WriteRequest.Operation, _ user: ObjectId, creator: ObjectId, from old: String? = nil,
        to state: String, event: ObjectId = .generate(), _ fixture: ServiceFixture
    ) async throws -> Bool {
        let rules = fixture.adminModels.current.rules
        let subject = try await fixture.authenticator.subject(of: user)
        let index = try #require(rules.schema.index(of: "Event"))
        let item = rules.schema[index]
        func row(_ state: String) throws -> Row {
            var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
            row[try #require(item.columnIndex("_id"))] = .objectId(event)
            row[try #require(item.columnIndex("creator"))] = .objectId(creator)
            row[try #require(item.columnIndex("state"))] = .string(state)
            return row
        }
        let request = WriteRequest(
            operation: operation, classIndex: index, old: try old.map(row), new: try row(state))
        return rules.access(of: subject).permit(request) == nil
    }

    @Test("users who may create events own the ones they create, and nobody can create one for somebody else")
    func creating() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let user = try #require(fixture.users["attendee"])
            let grid = try await call(.get, "/admin/permissions", as: "admin").json
            #expect(grid["userGroups"] == ["verified", "unverified"])
            #expect(grid["userPermissions"]?["createEvent"] == ["verified": true, "unverified": false])

            let refused = try await call(.post, "/api/events", as: "attendee", body: Self.event(user), type: Self.media)
            #expect(refused.status == 403, "\(refused.text)")
            #expect(try await !Self.deviceMay(.create, user, creator: user, to: "draft", fixture))

            try await AccountRegistry(pool: fixture.pool).setVerified(true, email: ServiceFixture.email("attendee"))
            fixture.forgetRoles()
            #expect(try await Self.deviceMay(.create, user, creator: user, to: "draft", fixture))
            let other = try #require(fixture.users["stranger"])
            for creator in [other, nil] {
                let answer = try await call(
                    .post, "/api/events", as: "attendee", body: Self.event(creator), type: Self.media)
                #expect(answer.status == 403, "\(answer.text)")
            }
            #expect(try await !Self.deviceMay(.create, user, creator: other, to: "draft", fixture))
            let made = try await call(.post, "/api/events", as: "attendee", body: Self.event(user), type: Self.media)
            #expect(made.status == 201, "\(made.text)")
            let id = try ObjectId(string: try #require(made.json["data"]?["id"]?.text))
            // Visible immediately, and theirs.
            #expect(try await call(.get, "/api/events/\(id)", as: "attendee").status == 200)
            let owners = try await fixture.pool.query(
                #"SELECT "user", role FROM role_assignment WHERE event = $1"#, [.bytea(id.bytes)])
            #expect(owners.count == 1)
            #expect(try owners[0, 0].bytes == user.bytes && owners[0, 1].string == "owner")
            fixture.forgetRoles()
            let track =
                #"{"data": {"type": "tracks", "attributes": {"name": "T"}, "relationships": {"event": {"data": {"type": "events", "id": "\#(id)"}}}}}"#
            let added = try await call(.post, "/api/tracks", as: "attendee", body: track, type: Self.media)
            #expect(added.status == 201, "\(added.text)")
            #expect(try await call(.get, "/api/events/\(id)", as: "stranger").status == 404)
            #expect(try await call(.post, "/api/events", body: Self.event(user), type: Self.media).status == 401)
        }
    }

    @Test(
        "flipping a box applies at once to requests and devices, is recorded in the documents' log, and takes permission"
    )
    func flipping() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let user = try #require(fixture.users["attendee"])
            for role in ["admin", "owner", "attendee"] {
                #expect(try await Self.set(call, "createEvent", "unverified", true, as: role).status == 403)
            }
            for (permission, group) in [("nothing", "verified"), ("createEvent", "nobody"), ("'", "<b>")] {
                #expect(try await Self.set(call, permission, group, true).status == 422)
            }
            let mixed = #"{"permission": "createEvent", "group": "verified", "role": "admin", "allowed": true}"#
            #expect(
                try await call(.patch, "/admin/permissions", as: "superAdmin", body: mixed, headers: [.ifMatch: "*"])
                    .status == 400)
            for isAllowed in [true, false] {
                let answer = try await Self.set(call, "createEvent", "unverified", isAllowed)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(answer.json["userPermissions"]?["createEvent"]?["unverified"] == .bool(isAllowed))
                #expect(try await Self.deviceMay(.create, user, creator: user, to: "draft", fixture) == isAllowed)
                let made = try await call(
                    .post, "/api/events", as: "attendee", body: Self.event(user), type: Self.media)
                #expect(made.status == (isAllowed ? 201 : 403), "\(made.text)")
            }
            let stored = try await fixture.pool.query(
                "SELECT account FROM tombolo.document WHERE kind = 'rules' ORDER BY version DESC LIMIT 1")
            #expect(try stored[0, 0].string == fixture.users["superAdmin"]?.stringValue)
        }
    }

    @Test(
        "publishing takes its own permission, even for the event's owner; without it, published events can still be edited"
    )
    func publishing() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let owner = try #require(fixture.users["stranger"])
            let draft = fixture.draft
            func publish(_ state: String) async throws -> Answer {
                try await call(
                    .patch, "/api/events/\(draft)", as: "stranger", body: Self.publish(draft, state), type: Self.media)
            }
            let refused = try await publish("published")
            #expect(refused.status == 403 && refused.text.contains("publishEvent"), "\(refused.text)")
            #expect(
                try await !Self.deviceMay(
                    .update, owner, creator: owner, from: "draft", to: "published", event: draft, fixture))
            #expect(
                try await Self.deviceMay(
                    .update, owner, creator: owner, from: "published", to: "published", event: draft, fixture))
            // Nor can they create and publish in one request.
            #expect(try await Self.set(call, "createEvent", "unverified", true).status == 200)
            let whole = try await call(
                .post, "/api/events", as: "stranger", body: Self.event(owner, state: "published"), type: Self.media)
            #expect(whole.status == 403, "\(whole.text)")
            // Administrators can publish events that aren't theirs.
            let byAdmin = try await call(
                .patch, "/api/events/\(draft)", as: "admin", body: Self.publish(draft), type: Self.media)
            #expect(byAdmin.status == 200, "\(byAdmin.text)")
            let edited =
                #"{"data": {"type": "events", "id": "\#(draft)", "attributes": {"name": "Edited"}}}"#
            #expect(
                try await call(.patch, "/api/events/\(draft)", as: "stranger", body: edited, type: Self.media).status
                    == 200)
            #expect(try await publish("draft").status == 200)
            #expect(try await publish("published").status == 403)
            #expect(try await Self.set(call, "publishEvent", "unverified", true).status == 200)
            #expect(try await publish("published").status == 200)
        }
    }

    @Test("a changed address is no longer verified, and the permissions of verified users are lost with it")
    func otherAddress() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let user = try #require(fixture.users["attendee"])
            try await AccountRegistry(pool: fixture.pool).setVerified(true, email: ServiceFixture.email("attendee"))
            fixture.forgetRoles()
            #expect(try await Self.deviceMay(.create, user, creator: user, to: "draft", fixture))
            try await fixture.pool.query(
                "UPDATE users SET email = 'other@example.org' WHERE _id = $1", [.bytea(user.bytes)])
            fixture.forgetRoles()
            #expect(try await !Self.deviceMay(.create, user, creator: user, to: "draft", fixture))
            await #expect(throws: AuthenticationError.self) {
                try await AccountRegistry(pool: fixture.pool).setVerified(true, email: "nobody@example.org")
            }
        }
    }
}
