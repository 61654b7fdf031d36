import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// What can and can't be changed under `/api`.
@Suite struct JSONAPIWritingTests {
    private static let media = "application/vnd.api+json"

    private static func problem(_ answer: Answer) -> JSON { JSONAPIReadingTests.problem(answer) }

    private static func identifier(_ type: String, _ id: ObjectId) -> String {
        #"{"data": {"type": "\#(type)", "id": "\#(id)"}}"#
    }

    private static func ticket(
        _ fixture: ServiceFixture,
        _ attributes: String = #""name": "New", "kind": "paid", "rank": "b0", "currency": "EUR""#
    ) -> String {
        #"{"data": {"type": "tickets", "attributes": {\#(attributes)}, "relationships": {"event": "#
            + identifier("events", fixture.event) + "}}}"
    }

    @Test("A resource is created, changed and removed, and each answer shows it as it is then")
    func lifeOfAResource() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let made = try await call(.post, "/api/tickets", as: "owner", body: Self.ticket(fixture), type: Self.media)
            #expect(made.status == 201, "\(made.text)")
            let path = try #require(made.headers[.location])
            #expect(path == made.json["data"]?["links"]?["self"]?.text)
            #expect(made.json["data"]?["attributes"]?["isPublic"] == true, "set by a database trigger")
            #expect(made.json["data"]?["attributes"]?["price"] == 0)
            let read = try await call(.get, path, as: "owner")
            #expect(read.json["data"] == made.json["data"] && read.headers[.eTag] == made.headers[.eTag])

            let id = try #require(made.json["data"]?["id"]?.text)
            let change = #"{"data": {"type": "tickets", "id": "\#(id)", "attributes": {"price": 250, "details": "x"}}}"#
            let changed = try await call(.patch, path, as: "owner", body: change, type: Self.media)
            #expect(changed.status == 200, "\(changed.text)")
            #expect(changed.json["data"]?["attributes"]?["price"] == 250)
            #expect(changed.json["data"]?["attributes"]?["name"] == "New")
            #expect(changed.headers[.eTag] != made.headers[.eTag])
            let gone = try await call(.delete, path, as: "owner")
            #expect(gone.status == 204 && gone.text.isEmpty, "\(gone.text)")
            #expect(try await call(.get, path, as: "owner").status == 404)
            #expect(try await call(.delete, path, as: "owner").status == 404)
            let left = try await fixture.pool.query("SELECT trashed_at IS NOT NULL FROM ticket WHERE name = 'New'")
            #expect(try left.map { try $0[0].bool } == [true], "tickets have a trash")
        }
    }

    @Test("DELETE moves an object of a class with a trash there, with what belongs to it, and it can be restored")
    func trash() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let path = "/api/sessions/\(fixture.sessions[0])"
            #expect(try await call(.delete, path, as: "coorganizer").status == 403)
            #expect(try await call(.delete, path, as: "stranger").status == 403)
            let gone = try await call(.delete, path, as: "organizer")
            #expect(gone.status == 204, "\(gone.text)")
            #expect(try await call(.get, path, as: "organizer").status == 404)
            let listed = try await call(.get, "/admin/trash?class=Session", as: "admin")
            #expect(listed.text.contains(fixture.sessions[0].stringValue))
            #expect(listed.text.contains(fixture.users["organizer"]?.stringValue ?? "none"))
            for (method, body) in [
                (HTTPRequest.Method.patch, #"{"data": {"type": "sessions", "id": "\#(fixture.sessions[0])"}}"#),
                (.delete, nil),
            ] {
                let answer = try await call(method, path, as: "organizer", body: body, type: Self.media)
                #expect(answer.status == 404, "\(answer.text)")
            }
            let restored = try await call(.post, "/admin/trash/\(fixture.sessions[0])/restore", as: "admin")
            #expect(restored.status == 200)
            #expect(try await call(.get, path, as: "organizer").status == 200)
        }
    }

    @Test("The rules check the row before and after, and nobody learns of what they may not see")
    func rules() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            func patch(_ id: ObjectId, _ body: String, as role: String) async throws -> Answer {
                try await call(
                    .patch, "/api/sessions/\(id)", as: role,
                    body: #"{"data": {"type": "sessions", "id": "\#(id)", \#(body)}}"#, type: Self.media)
            }
            let title = #""attributes": {"title": "Mine"}"#
            #expect(try await patch(fixture.sessions[0], title, as: "coorganizer").status == 200)
            #expect(try await patch(fixture.sessions[0], title, as: "registrar").status == 403)
            #expect(try await patch(fixture.sessions[0], title, as: "stranger").status == 403)
            #expect(try await patch(fixture.sessions[2], title, as: "stranger").status == 404, "they can't see it")
            #expect(try await patch(fixture.draftSession, title, as: "owner").status == 404)
            // Nobody can move an object into or out of their reach.
            let move = #""relationships": {"event": \#(Self.identifier("events", fixture.draft))}"#
            let moved = try await patch(fixture.sessions[0], move, as: "owner")
            #expect(moved.status == 403, "\(moved.text)")
            #expect(Self.problem(moved)["source"]?["pointer"] == "/data/relationships/event/data", "\(moved.text)")
            let body = Self.ticket(fixture)
            for (role, status) in [("coorganizer", 403), ("registrar", 403), ("stranger", 403), ("attendee", 403)] {
                let answer = try await call(.post, "/api/tickets", as: role, body: body, type: Self.media)
                #expect(answer.status == status, "\(role): \(answer.text)")
            }
            #expect(try await call(.post, "/api/tickets", body: body, type: Self.media).status == 401)
            // A co-organizer tries to become the owner.
            let user = try #require(fixture.users["coorganizer"])
            let promotion = #"""
                {"data": {"type": "role_assignments", "attributes": {"role": "owner"}, "relationships": {
                "user": \#(Self.identifier("users", user)), "event": \#(Self.identifier("events", fixture.event))}}}
                """#
            for role in ["coorganizer", "organizer", "owner", "attendee"] {
                let answer = try await call(.post, "/api/role_assignments", as: role, body: promotion, type: Self.media)
                #expect(answer.status == 403, "\(role): \(answer.text)")
            }
            let admin = try #require(fixture.users["admin"])
            let own = #"{"data": {"type": "users", "id": "\#(admin)", "attributes": {"isSuperAdmin": true}}}"#
            let promoted = try await call(.patch, "/api/users/\(admin)", as: "admin", body: own, type: Self.media)
            #expect(promoted.status == 403)
            #expect(Self.problem(promoted)["source"]?["pointer"] == "/data/attributes/isSuperAdmin", "\(promoted.text)")
            let found = try await fixture.pool.query("SELECT count(*) FROM role_assignment WHERE role = 'owner'")
            #expect(try found[0, 0].int == 2)
        }
    }

    @Test("A request for a resource that its caller can't see doesn't wait for a writer's lock")
    func hiddenLocks() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let id = fixture.sessions[2]
            let body = #"{"data": {"type": "sessions", "id": "\#(id)", "attributes": {"title": "Mine"}}}"#
            try await fixture.pool.transaction { connection in
                try await connection.query("SELECT 1 FROM session WHERE _id = $1 FOR UPDATE", [.bytea(id.bytes)])
                let answer = try await call(.patch, "/api/sessions/\(id)", as: "stranger", body: body, type: Self.media)
                #expect(answer.status == 404, "\(answer.text)")
            }
        }
    }

    @Test("A change is refused if somebody else changed the resource first")
    func versions() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let (id, path) = (fixture.sessions[0], "/api/sessions/\(fixture.sessions[0])")
            let old = try #require(try await call(.get, path, as: "owner").headers[.eTag])
            func patch(_ title: String, _ version: String) async throws -> Answer {
                try await call(
                    .patch, path, as: "owner",
                    body: #"{"data": {"type": "sessions", "id": "\#(id)", "attributes": {"title": "\#(title)"}}}"#,
                    type: Self.media, headers: [.ifMatch: version])
            }
            let first = try await patch("First", old)
            #expect(first.status == 200, "\(first.text)")
            let second = try await patch("Second", old)
            #expect(second.status == 412 && Self.problem(second)["source"]?["header"] == "If-Match", "\(second.text)")
            let new = try #require(first.headers[.eTag])
            #expect(try await patch("Third", "\(old), \(new)").status == 200)
            #expect(try await patch("Fourth", "*").status == 200)
            let deletion = try await call(.delete, path, as: "owner", headers: [.ifMatch: old])
            #expect(deletion.status == 412)
            // Changing a list counts too.
            let before = try #require(try await call(.get, path, as: "owner").headers[.eTag])
            let emptied = try await call(
                .patch, "\(path)/relationships/speakers", as: "owner", body: #"{"data": []}"#, type: Self.media)
            #expect(emptied.status == 200, "\(emptied.text)")
            #expect(try await patch("Fifth", before).status == 412)
        }
    }

    @Test("Relationships are replaced as a whole, and remaining elements keep their identity")
    func relationships() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let path = "/api/sessions/\(fixture.sessions[0])/relationships"
            let third = try await fixture.rows().insert(
                "Speaker", ["event": .objectId(fixture.event), "name": "Edsger"])
            func elements() async throws -> [String] {
                try await fixture.pool.query(
                    "SELECT encode(_id, 'hex') FROM session_speakers WHERE owner = $1 ORDER BY rank, _id",
                    [.bytea(fixture.sessions[0].bytes)]
                ).map { try $0[0].string }
            }
            let before = try await elements()
            let speakers = [fixture.speakers[0], third, fixture.speakers[1]]
            let items = speakers.map { #"{"type": "speakers", "id": "\#($0)"}"# }.joined(separator: ",")
            let set = try await call(
                .patch, "\(path)/speakers", as: "owner", body: #"{"data": [\#(items)]}"#, type: Self.media)
            #expect(set.status == 200, "\(set.text)")
            #expect(set.json["data"]?.list.compactMap { $0["id"]?.text } == speakers.map(\.stringValue))
            let after = try await elements()
            #expect(after.count == 3 && after[0] == before[0] && after[2] == before[1])

            let room = try await call(.patch, "\(path)/room", as: "owner", body: #"{"data": null}"#, type: Self.media)
            #expect(room.status == 200 && room.json["data"] == .null, "\(room.text)")
            for (name, body, status) in [
                ("room", #"{"data": {"type": "speakers", "id": "\#(third)"}}"#, 422), ("room", #"{"data": []}"#, 422),
                ("room", "{}", 422), ("speakers", #"{"data": null}"#, 422), ("speakers", #"{"data": [1]}"#, 422),
                ("room", #"{"data": {"type": "microlocations", "id": "\#(ObjectId.generate())"}}"#, 422),
                ("title", #"{"data": null}"#, 404),
            ] {
                let answer = try await call(.patch, "\(path)/\(name)", as: "owner", body: body, type: Self.media)
                #expect(answer.status == status, "\(name) \(body): \(answer.text)")
            }
            let other = try await call(
                .patch, "\(path)/room", as: "registrar", body: #"{"data": null}"#, type: Self.media)
            #expect(other.status == 403)
        }
    }

    @Test("Invalid values are refused with their place in the body and what to send instead")
    func validation() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let id = fixture.tickets[0]
            let missing = ObjectId.generate()
            for (attributes, pointer, status) in [
                (#""price": "10""#, "/data/attributes/price", 422), (#""price": 1.5"#, "/data/attributes/price", 422),
                (#""price": null"#, "/data/attributes/price", 422), (#""price": 1e30"#, "/data/attributes/price", 422),
                (#""name": 1"#, "/data/attributes/name", 422), (#""name": null"#, "/data/attributes/name", 422),
                (#""name": "a\u0000b""#, "/data/attributes/name", 422),
                (#""isHidden": "true""#, "/data/attributes/isHidden", 422),
                (#""salesStartsAt": "soon""#, "/data/attributes/salesStartsAt", 422),
                (#""salesStartsAt": 1"#, "/data/attributes/salesStartsAt", 422),
                (#""what": 1"#, "/data/attributes/what", 422), (#""_id": "x""#, "/data/attributes/_id", 422),
                (#""event": "x""#, "/data/attributes/event", 422), (#""a/b~c": 1"#, "/data/attributes/a~1b~0c", 422),
                (#""rank": "a1""#, "/data/attributes/rank", 409),
            ] {
                let body = #"{"data": {"type": "tickets", "id": "\#(id)", "attributes": {\#(attributes)}}}"#
                let answer = try await call(.patch, "/api/tickets/\(id)", as: "owner", body: body, type: Self.media)
                #expect(answer.status == status, "\(attributes): \(answer.text)")
                let problem = Self.problem(answer)
                let found = problem["source"]?["pointer"]?.text
                #expect(found == pointer || status == 409 && found?.hasPrefix("/data") == true, "\(answer.text)")
                #expect(problem["meta"]?["remedy"]?.text?.isEmpty == false)
            }
            let dangling = #"""
                {"data": {"type": "tickets", "id": "\#(id)",
                "relationships": {"event": \#(Self.identifier("events", missing))}}}
                """#
            let superAdmin = try await call(
                .patch, "/api/tickets/\(id)", as: "superAdmin", body: dangling, type: Self.media)
            #expect(superAdmin.status == 422, "\(superAdmin.text)")
            #expect(Self.problem(superAdmin)["source"]?["pointer"] == "/data/relationships/event/data")

            let empty = try await call(
                .post, "/api/tickets", as: "owner",
                body: #"{"data": {"type": "tickets", "attributes": {"x": 1, "y": 2}}}"#,
                type: Self.media)
            #expect(
                empty.status == 422 && empty.json["errors"]?.list.count == 2, "every problem is named: \(empty.text)")
            let nothing = try await call(
                .post, "/api/tickets", as: "owner", body: #"{"data": {"type": "tickets"}}"#, type: Self.media)
            let pointers = (nothing.json["errors"]?.list ?? []).compactMap { $0["source"]?["pointer"]?.text }
            #expect(nothing.status == 422 && pointers.contains("/data/attributes/name"), "\(nothing.text)")

            let taken = try await call(
                .post, "/api/tickets", as: "owner",
                body: Self.ticket(fixture).replacing("\"attributes\"", with: #""id": "\#(id)", "attributes""#),
                type: Self.media)
            #expect(taken.status == 409 && Self.problem(taken)["source"]?["pointer"] == "/data/id", "\(taken.text)")
        }
    }

    @Test("Bodies of any form are refused, and never with 500")
    func hostileBodies() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let whole = Self.ticket(fixture)
            let path = "/api/tickets"
            var bodies = stride(from: 0, to: whole.utf8.count - 1, by: 7).map {
                (String(whole.prefix($0)), [400])
            }
            bodies += [
                ("null", [400]), ("[]", [400]), ("1", [400]), (#"{"data": null}"#, [400]), (#"{"data": []}"#, [400]),
                (#"{"data": [{}]}"#, [400]), (#"{"data": {}}"#, [409]), (#"{"data": {"type": 1}}"#, [409]),
                (#"{"data": {"type": "events"}}"#, [409]), (#"{"data": {"type": "tickets", "id": 1}}"#, [422]),
                (#"{"data": {"type": "tickets", "id": "x"}}"#, [422]),
                (#"{"data": {"type": "tickets", "attributes": []}}"#, [422]),
                (#"{"data": {"type": "tickets", "relationships": 1}}"#, [422]),
                (#"{"data": {"type": "tickets", "relationships": {"event": 1}}}"#, [422]),
                (
                    #"{"data": {"type": "tickets", "relationships": {"event": {"data": {"type": "events"}}}}}"#,
                    [422]
                ),
                (#"{"data": {"type": "tickets", "type": "tickets"}}"#, [400]),
                ("{\"data\": {\"type\": \"tickets\", \"attributes\": {\"é\": 1, \"e\u{301}\": 2}}}", [400]),
                (String(repeating: "[", count: 20_000), [400]),
                (#"{"data":"# + String(repeating: #"{"data":"#, count: 5_000), [400]),
                (String(repeating: "x", count: 100_000), [413]),
            ]
            for (body, statuses) in bodies {
                let answer = try await call(.post, path, as: "owner", body: body, type: Self.media)
                #expect(statuses.contains(answer.status), "\(body.prefix(80)): \(answer.text)")
                #expect(answer.headers[.contentType] == Self.media)
            }
            for type in [
                "application/json", "text/plain", "application/vnd.api+json; charset=utf-8",
                "application/vnd.api+json; ext=\"https://jsonapi.org/ext/atomic\"",
            ] {
                let answer = try await call(.post, path, as: "owner", body: whole, type: type)
                #expect(answer.status == 415, "\(type): \(answer.text)")
            }
            let parameter = try await call(.post, "\(path)?include=event", as: "owner", body: whole, type: Self.media)
            #expect(parameter.status == 400)
            let count = try await fixture.pool.query("SELECT count(*) FROM ticket")
            #expect(try count[0, 0].int == 6, "nothing was written")
        }
    }

    // MARK: Operations

    private static let atomic = #"application/vnd.api+json;ext="https://jsonapi.org/ext/atomic""#

    @Test("Local ids spelled with different code points are different ids")
    func spelledLocalIDs() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let event = Self.identifier("events", fixture.event)
            let names = [("caf\u{E9}", "Mary"), ("cafe\u{301}", "Rosa")]
            let added = names.map { lid, _ in
                #"{"op": "add", "data": {"type": "speakers", "lid": "\#(lid)", "attributes": {"name": "New"}, "#
                    + #""relationships": {"event": \#(event)}}}"#
            }
            let named = names.map { lid, name in
                #"{"op": "update", "data": {"type": "speakers", "lid": "\#(lid)", "attributes": {"name": "\#(name)"}}}"#
            }
            let done = try await call(
                .post, "/api/operations", as: "owner",
                body: #"{"atomic:operations": [\#((added + named).joined(separator: ","))]}"#, type: Self.atomic)
            #expect(done.status == 200, "\(done.text)")
            let found = try await fixture.pool.query(
                "SELECT name FROM speaker WHERE name IN ('New', 'Mary', 'Rosa') ORDER BY name")
            #expect(try found.map { try $0[0].string } == ["Mary", "Rosa"])
        }
    }

    @Test("Operations in one request all happen or none do, and can refer to each other's new resources")
    func operations() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let event = Self.identifier("events", fixture.event)
            let speaker = #"""
                {"op": "add", "data": {"type": "speakers", "lid": "s", "attributes": {"name": "Barbara"},
                "relationships": {"event": \#(event)}}}
                """#
            let session = #"""
                {"op": "add", "data": {"type": "sessions", "lid": "t",
                "attributes": {"title": "Made", "state": "draft"},
                "relationships": {"event": \#(event), "speakers": {"data": [{"type": "speakers", "lid": "s"}]}}}}
                """#
            let update = #"""
                {"op": "update", "data": {"type": "sessions", "lid": "t", "attributes": {"title": "Made well"}}}
                """#
            let link = #"""
                {"op": "update", "ref": {"type": "sessions", "lid": "t", "relationship": "room"},
                "data": {"type": "microlocations", "id": "\#(fixture.room)"}}
                """#
            let remove = #"{"op": "remove", "ref": {"type": "sessions", "id": "\#(fixture.sessions[1])"}}"#
            func run(_ operations: [String], as role: String? = "owner") async throws -> Answer {
                try await call(
                    .post, "/api/operations", as: role,
                    body: #"{"atomic:operations": [\#(operations.joined(separator: ","))]}"#, type: Self.atomic)
            }
            func count() async throws -> [Int] {
                let result = try await fixture.pool.query(
                    "SELECT (SELECT count(*) FROM session WHERE trashed_at IS NULL), (SELECT count(*) FROM speaker)")
                return [try result[0, 0].int, try result[0, 1].int]
            }
            let before = try await count()
            let broken = #"{"op": "remove", "ref": {"type": "sessions", "id": "\#(fixture.draftSession)"}}"#
            let failed = try await run([speaker, session, update, link, remove, broken])
            #expect(failed.status == 404, "\(failed.text)")
            #expect(Self.problem(failed)["source"]?["pointer"] == "/atomic:operations/5")
            #expect(try await count() == before)

            let done = try await run([speaker, session, update, link, remove])
            #expect(done.status == 200, "\(done.text)")
            #expect(done.headers[.contentType] == Self.atomic)
            let results = done.json["atomic:results"]?.list ?? []
            #expect(results.count == 5 && results[4] == .object([:]))
            #expect(results[3]["data"]?["attributes"]?["title"] == "Made well")
            #expect(results[3]["data"]?["relationships"]?["room"]?["data"]?["id"]?.text == fixture.room.stringValue)
            let made = results[1]["data"]?["relationships"]?["speakers"]?["data"]?.list.first
            #expect(made?["id"] == results[0]["data"]?["id"])
            #expect(try await count() == [before[0], before[1] + 1])
            #expect(try await call(.get, "/api/sessions/\(fixture.sessions[1])", as: "owner").status == 404)

            for (operations, status, pointer) in [
                ([update], 400, "/atomic:operations/0/data/lid"),
                ([speaker, speaker], 400, "/atomic:operations/1/data/lid"),
                ([#"{"op": "move"}"#], 400, "/atomic:operations/0/op"), (["1"], 400, "/atomic:operations/0/op"),
                ([#"{"op": "add", "href": "/x"}"#], 400, "/atomic:operations/0/href"),
                ([#"{"op": "add", "data": {"type": "x"}}"#], 400, "/atomic:operations/0/data/type"),
                ([#"{"op": "add", "data": []}"#], 400, "/atomic:operations/0/data"),
                ([#"{"op": "remove", "ref": {"type": "sessions"}}"#], 400, "/atomic:operations/0/ref/id"),
                (
                    [speaker.replacing("Barbara\"", with: "B\", \"x\": 1")], 422,
                    "/atomic:operations/0/data/attributes/x"
                ),
                (
                    [
                        #"{"op": "update", "ref": {"type": "sessions", "id": "\#(fixture.sessions[0])"}, "data": "#
                            + #"{"type": "sessions", "id": "\#(fixture.sessions[2])", "attributes": {"title": "x"}}}"#
                    ], 400, "/atomic:operations/0/data/id"
                ),
                (
                    [
                        speaker, #"{"op": "remove", "ref": {"type": "speakers", "lid": "s"}}"#, session,
                    ], 422, "/atomic:operations/2/data/relationships/speakers/data/0"
                ),
                ([], 400, "/atomic:operations"),
                (Array(repeating: remove, count: 51), 400, "/atomic:operations"),
            ] as [([String], Int, String)] {
                let answer = try await run(operations)
                #expect(answer.status == status, "\(operations.first ?? ""): \(answer.text)")
                #expect(Self.problem(answer)["source"]?["pointer"]?.text == pointer, "\(answer.text)")
            }
            #expect(try await run([speaker], as: nil).status == 401)
            #expect(try await run([speaker], as: "coorganizer").status == 403)
            let plain = try await call(
                .post, "/api/operations", as: "owner", body: #"{"atomic:operations": []}"#, type: Self.media)
            #expect(plain.status == 415, "\(plain.text)")
        }
    }

    @Test("The API description is valid JSON and names every class with its fields and relationships")
    func description() async throws {
        try await JSONAPIReadingTests.run { fixture, call in
            let answer = try await call(.get, "/api/openapi.json")
            #expect(answer.status == 200 && answer.headers[.contentType] == "application/json", "\(answer.text)")
            #expect(answer.json["openapi"] == "3.1.0")
            for item in fixture.rules.schema.classes where item.owner == nil {
                let path = answer.json["paths"]?["/api/\(item.collectionName)"]
                #expect(path?["get"] != nil && path?["post"] != nil, "\(item.name)")
                #expect(answer.json["components"]?["schemas"]?[item.collectionName] != nil)
            }
            #expect(answer.json["paths"]?["/api/sessions/{id}/relationships/speakers"]?["patch"] != nil)
            let ticket = answer.json["components"]?["schemas"]?["tickets"]?["properties"]?["attributes"]?["properties"]
            let price = ticket?["price"]?["description"]?.text
            #expect(price?.hasPrefix("In minor units of the currency") == true, "\(price ?? "no hint")")
            // Only deletions that go to the trash can have a reason.
            let removals = ["sessions", "role_assignments"].map {
                answer.json["paths"]?["/api/\($0)/{id}"]?["delete"]?["requestBody"]
            }
            #expect(removals[0] != nil && removals[1] == nil, "\(removals)")
            let title = answer.json["components"]?["schemas"]?["sessions"]?["properties"]?["attributes"]?["properties"]
            #expect(title?["title"]?["type"] == "string" && title?["subtitle"]?["type"] == ["string", "null"])
            let abstract = title?["longAbstract"]
            #expect(abstract?["contentMediaType"] == "text/markdown" && abstract?["type"] == ["string", "null"])
            #expect(title?["title"]?["contentMediaType"] == nil)
            for path in [
                "/export/sessions", "/bulk/sessions", "/import/sessions", "/import/sessions/{id}/preview",
                "/import/sessions/{id}/start", "/jobs", "/jobs/{id}", "/jobs/{id}/rows", "/jobs/{id}/cancel",
                "/jobs/{id}/undo",
            ] {
                #expect(answer.json["paths"]?[path] != nil, "\(path)")
            }
            let again = try await call(
                .get, "/api/openapi.json", headers: [.ifNoneMatch: answer.headers[.eTag] ?? ""])
            #expect(again.status == 304)
        }
    }
}
