import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The permission matrix over HTTP, with PostgreSQL.
@Suite struct PermissionRoutesTests {
    private static func body(_ role: String, _ service: String, _ operation: String, _ isAllowed: Bool) -> String {
        #"{"role": "\#(role)", "service": "\#(service)", "operation": "\#(operation)", "allowed": \#(isAllowed)}"#
    }

    private static func set(
        _ call: Caller, _ body: String, as role: String = "superAdmin", tag: String?
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        headers[.ifMatch] = tag
        // Another test's change may lock the rules for longer than the server waits.
        while true {
            let answer = try await call(.patch, "/admin/permissions", as: role, body: body, headers: headers)
            if answer.status != 503 { return answer }
        }
    }

    private static func tag(_ call: Caller) async throws -> String {
        try #require(try await call(.get, "/admin/permissions", as: "admin").headers[.eTag])
    }

    @Test("administrators get the matrix and its version; nobody else does")
    func seeing() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            for role in ["admin", "superAdmin"] {
                let answer = try await call(.get, "/admin/permissions", as: role)
                #expect(answer.status == 200, "\(answer.text)")
                let version = try #require(answer.json["version"]?.number)
                #expect(answer.headers[.eTag] == "\"\(version)\"")
                #expect(answer.json["app"] == "conference")
                #expect(answer.json["changedBy"] == .null)
                let cell = answer.json["permissions"]?["coorganizer"]?["sessions"]
                #expect(cell == ["create": false, "read": true, "update": true, "delete": false])
            }
            for role in ["owner", "organizer", "coorganizer", "registrar", "attendee", "stranger"] {
                #expect(try await call(.get, "/admin/permissions", as: role).status == 403, "\(role)")
            }
            #expect(try await call(.get, "/admin/permissions").status == 401)
            #expect(try await call(.get, "/admin/permissions?app=nothing", as: "admin").status == 404)
            #expect(try await call(.get, "/admin/permissions?app=conference", as: "admin").status == 200)
        }
    }

    @Test(
        "unticking a box takes effect over HTTP at once, and the document keeps all other bytes and its history")
    func changing() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let documents = { () async throws -> [(version: Int64, content: String, account: String?)] in
                try await fixture.pool.query(
                    "SELECT version, content, account FROM tombolo.document WHERE kind = 'rules' ORDER BY version"
                ).map { (try $0[0].int64, try $0[1].string, try $0[2].nonNull?.string) }
            }
            let before = try #require(try await documents().last)
            let tag = try await Self.tag(call)
            #expect(tag == "\"\(before.version)\"")

            let untick = Self.body("organizer", "sessions", "delete", false)
            let changed = try await Self.set(call, untick, tag: tag)
            #expect(changed.status == 200, "\(changed.text)")
            let after = try #require(try await documents().last)
            #expect(changed.headers[.eTag] == "\"\(after.version)\"" && after.version > before.version)
            #expect(changed.json["permissions"]?["organizer"]?["sessions"]?["delete"] == false)
            #expect(changed.json["changedBy"]?.text == fixture.users["superAdmin"]?.stringValue)
            #expect(after.account == fixture.users["superAdmin"]?.stringValue)
            #expect(try await documents().count == 2, "The previous version is kept")
            let different = zip(before.content.split(separator: "\n"), after.content.split(separator: "\n")).filter {
                $0 != $1
            }
            #expect(different.map { [String($0), String($1)] } == [["      sessions: crud", "      sessions: cru-"]])
            #expect(before.content.utf8.count == after.content.utf8.count)

            let session = "/sessions/\(fixture.sessions[0])"
            #expect(try await call(.delete, session, as: "organizer").status == 403)
            let again = try await Self.set(call, untick, tag: changed.headers[.eTag])
            #expect(again.status == 200 && again.headers[.eTag] == changed.headers[.eTag], "Nothing to change")
            let back = try await Self.set(
                call, Self.body("organizer", "sessions", "delete", true), tag: changed.headers[.eTag])
            #expect(back.status == 200, "\(back.text)")
            #expect(try await documents().last?.content == before.content)
            #expect(try await call(.delete, session, as: "organizer").status == 200)
        }
    }

    @Test("a change is refused with 412 if its version isn't the newest, and with 428 if it has none")
    func versions() async throws {
        try await ServiceFixture.withAdminServer { _, call in
            let tag = try await Self.tag(call)
            let wish = { Self.body("moderator", "tracks", "update", $0) }
            #expect(try await Self.set(call, wish(true), tag: nil).status == 428)
            #expect(try await Self.set(call, wish(true), tag: "\"1\", \(tag)").status == 200)
            let stale = try await Self.set(call, wish(false), tag: tag)
            #expect(stale.status == 412 && stale.json["code"] == "precondition_failed", "\(stale.text)")
            #expect(try await Self.set(call, wish(false), tag: "W/\(try await Self.tag(call))").status == 412)
            #expect(try await Self.set(call, wish(false), tag: "*").status == 200)
        }
    }

    @Test("if administrators change boxes at the same time, each version accepts one change, and none is lost")
    func atTheSameTime() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let services = ["tickets", "tracks", "sessions", "speakers", "microlocations", "sponsors"]
            let tag = try await Self.tag(call)
            let first = try await withThrowingTaskGroup(of: Int.self) { group in
                for service in services {
                    group.addTask {
                        try await Self.set(call, Self.body("moderator", service, "update", true), tag: tag).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(first.filter { $0 == 200 }.count == 1 && first.filter { $0 == 412 }.count == services.count - 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for service in services {
                    group.addTask {
                        while try await Self.set(
                            call, Self.body("moderator", service, "update", true), tag: Self.tag(call)
                        ).status == 412 {}
                    }
                }
                try await group.waitForAll()
            }
            let matrix = try await call(.get, "/admin/permissions", as: "admin").json["permissions"]?["moderator"]
            for service in services { #expect(matrix?[service]?["update"] == true, "\(service)") }
            let versions = try await fixture.pool.query(
                "SELECT count(*) FROM tombolo.document WHERE kind = 'rules'")[0, 0].int64
            #expect(versions == Int64(services.count) + 1)
        }
    }

    @Test("only the super administrator changes boxes: an administrator and a co-organizer can't promote anybody")
    func promotion() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let tag = try await Self.tag(call)
            for role in ["admin", "owner", "organizer", "coorganizer", "registrar", "attendee"] {
                let answer = try await Self.set(
                    call, Self.body("coorganizer", "sessions", "delete", true), as: role, tag: tag)
                #expect(answer.status == 403, "\(role)")
            }
            let count = try await fixture.pool.query("SELECT count(*) FROM tombolo.document WHERE kind = 'rules'")
            #expect(try count[0, 0].int64 == 1)
            // The right to change the matrix isn't part of the matrix, so nobody can lock themselves out.
            let answer = try await Self.set(call, Self.body("superAdmin", "sessions", "read", false), tag: tag)
            #expect(answer.status == 422, "\(answer.text)")
        }
    }

    @Test("an unknown box, or one that can't be changed on its own, is refused with a hint")
    func mistakes() async throws {
        try await ServiceFixture.withAdminServer { _, call in
            let tag = try await Self.tag(call)
            for (body, text) in [
                (Self.body("organiser", "sessions", "read", true), "did you mean 'organizer'?"),
                (Self.body("organizer", "session", "read", true), "did you mean 'sessions'?"),
                (Self.body("organizer", "sessions", "trash", true), "There is no operation 'trash'"),
                (Self.body("organizer", "sessions", "read", false), "Remove create, update and delete first."),
                (Self.body("registrar", "speakerContacts", "update", true), "Permit read first."),
                (Self.body("owner", "events", "create", true), "remove the letter c"),
                (Self.body("admin", "permissions", "update", true), "would permit nothing"),
                (Self.body("organizer", "devices", "read", true), "would permit nothing"),
            ] {
                let answer = try await Self.set(call, body, tag: tag)
                #expect(answer.status == 422 && answer.text.contains(text), "\(body): \(answer.text)")
            }
            #expect(try await Self.set(call, "{}", tag: tag).status == 400)
            #expect(try await Self.tag(call) == tag)
        }
    }

    @Test("answers say which rule decided in development mode only")
    func decisions() async throws {
        let name = try #require(HTTPField.Name("Tombolo-Decision"))
        try await ServiceFixture.withAdminServer(showsDecisions: true) { _, call in
            let allowed = try await call(.get, "/admin/permissions", as: "admin")
            #expect(allowed.headers[name] == "allowed: read the permission matrix")
            let refused = try await call(.get, "/admin/permissions", as: "owner")
            let reason = try #require(refused.headers[name])
            #expect(reason.hasPrefix("refused: Not permitted to read the permission matrix: its rule requires "))
            #expect(reason.contains("admin") && reason.contains("superAdmin"))
        }
        try await ServiceFixture.withAdminServer { _, call in
            for role in ["admin", "owner"] {
                let answer = try await call(.get, "/admin/permissions", as: role)
                #expect(answer.headers[name] == nil)
            }
        }
    }

    @Test("a version made by another server takes effect before this one is notified of it")
    func versionOfAnotherServer() async throws {
        try await ServiceFixture.withAdminServer { fixture, call in
            let other = try await ServerModels.load(fixture.adminServer.pool)
            let subject = Subject(
                user: try #require(fixture.users["superAdmin"]),
                grants: [RoleGrant(role: Role("superAdmin"), scope: nil)])
            let box = PermissionMatrix.Box(role: "organizer", service: "sessions", operation: .delete)
            let before = try #require(other.current.ruleVersions["conference"])
            let changed = try await other.set(box, to: false, of: "conference", at: before, by: subject)
            let newest = try #require(changed.ruleVersions["conference"])
            let stale = try await Self.set(
                call, Self.body("organizer", "tracks", "delete", false), tag: "\"\(before)\"")
            #expect(stale.status == 412, "\(stale.text)")
            let fresh = try await Self.set(
                call, Self.body("organizer", "tracks", "delete", false), tag: "\"\(newest)\"")
            #expect(fresh.status == 200, "\(fresh.text)")
            let wrong = try await Self.set(
                call, Self.body("organizer", "tracks", "delete", true), tag: "\"\(newest + 1_000)\"")
            #expect(wrong.status == 412, "\(wrong.text)")
        }
    }

    @Test("an address with an empty part is never found, so a proxy's address rules can't be bypassed")
    func emptyParts() async throws {
        try await ServiceFixture.withAdminServer { _, call in
            for path in ["//admin/permissions", "/admin//permissions", "//api/events", "/admin/permissions//"] {
                let answer = try await call(.get, path, as: "superAdmin")
                #expect(answer.status == 404, "\(path)")
            }
        }
    }
}
