import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRuleDocuments
import TomboloRules

/// The audit log over HTTP: who made a change, from where, and who may see it.
@Suite(.serialized) struct AuditTests {
    /// When this returns, everything committed before is in the log.
    private static func copy(_ fixture: ServiceFixture, _ store: PostgresServerStore) async throws {
        try await store.makeLoneTick()
        try await AuditFollower(pool: fixture.adminServer.pool).catchUp()
    }

    private static func run(
        rules: String? = nil,
        _ body:
            @Sendable @escaping (ServiceFixture, ServiceTestSupport.Caller, @Sendable () async throws -> Void)
            async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            let store = try await PostgresServerStore.open(schema: fixture.rules.schema, pool: fixture.pool)
            try await copy(fixture, store)
            let rules = try rules.map {
                try Rules(schema: fixture.rules.schema, book: try RuleBook(parsing: $0, file: "test.yaml"))
            }
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(rules ?? fixture.rules),
                models: fixture.adminModels, authenticator: fixture.adminServer.authenticator)
            try await app.test(.router) { client in
                try await body(fixture, ServiceTestSupport.Caller(client, fixture)) { try await copy(fixture, store) }
            }
            await store.resign()
        }
    }

    private static let media = "application/vnd.api+json"

    @Test("a change over HTTP is logged with its user, address and route, whichever route made it")
    func routes() async throws {
        try await Self.run { fixture, call, copy in
            let session = fixture.sessions[1].stringValue
            let body = #"{"data": {"type": "sessions", "id": "\#(session)", "attributes": {"title": "New"}}}"#
            let changed = try await call(
                .patch, "/api/sessions/\(session)", as: "organizer", body: body, type: Self.media)
            #expect(changed.status == 200, "\(changed.text)")
            #expect(try await call(.post, "/admin/sessions/\(session)/trash", as: "admin").status == 200)
            #expect(try await call(.post, "/admin/trash/\(session)/restore", as: "superAdmin").status == 200)
            try await fixture.rows().set("Session", fixture.sessions[1], "title", "By SQL")
            try await copy()
            let answer = try await call(.get, "/admin/audit/sessions/\(session)", as: "admin")
            #expect(answer.status == 200, "\(answer.text)")
            let items = answer.json["items"]?.list.filter { $0["list"] == nil && $0["operation"] != "baseline" } ?? []
            #expect(items.map { $0["operation"]?.text } == ["update", "restore", "trash", "update"])
            #expect(items.map { $0["source"]?.text } == ["sql", "http", "http", "http"])
            let users = ["superAdmin", "admin", "organizer"].map { fixture.users[$0]?.stringValue }
            #expect(items.dropFirst().map { $0["user"]?.text } == users)
            #expect(items.last?["userName"]?.text == "The organizer")
            #expect(items.last?["route"]?.text == "PATCH /api/{collection}/{id}")
            #expect(items.last?["before"] == ["title": "Talk 2"] && items.last?["after"] == ["title": "New"])
            #expect(items.first?["databaseUser"]?.text != nil && items.first?["user"] == .null)
            #expect(items.first?["after"] == ["title": "By SQL"])
        }
    }

    @Test("replaying the log after many kinds of requests gives the tables' contents")
    func replay() async throws {
        try await Self.run { fixture, call, copy in
            for (index, session) in fixture.sessions.enumerated() {
                let path = "/admin/sessions/\(session)/trash"
                #expect(try await call(.post, path, as: "admin").status == 200)
                if index == 0 {
                    #expect(try await call(.delete, "/admin/trash/\(session)", as: "superAdmin").status == 200)
                }
                if index == 1 {
                    #expect(try await call(.post, "/admin/trash/\(session)/restore", as: "admin").status == 200)
                }
            }
            #expect(try await call(.delete, "/events/\(fixture.event)", as: "superAdmin").status == 200)
            try await copy()
            let report = try await fixture.pool.withConnection {
                try await AuditVerification.run(fixture.rules.schema, on: $0)
            }
            #expect(report.differences.isEmpty && report.incomplete.isEmpty, "\(report)")
            let deleted = try await call(.get, "/admin/audit?operation=delete&class=Session", as: "superAdmin")
            #expect(
                deleted.json["items"]?.list.contains { $0["object"]?.text == fixture.sessions[0].stringValue } == true,
                "\(deleted.text)")
        }
    }

    @Test("filters narrow the log, pages follow each other without gaps, and invalid queries are refused")
    func filters() async throws {
        try await Self.run { fixture, call, copy in
            for number in 0..<7 {
                try await fixture.rows().set("Track", try await track(fixture), "name", .string("N\(number)"))
            }
            try await copy()
            func items(_ query: String) async throws -> [JSON] {
                let answer = try await call(.get, "/admin/audit?\(query)", as: "superAdmin")
                #expect(answer.status == 200, "\(query): \(answer.text)")
                return answer.json["items"]?.list ?? []
            }
            #expect(try await items("class=Track&operation=update").count == 7)
            #expect(try await items("class=Track&operation=create&source=sql").count == 1)
            #expect(try await items("class=Track&source=http").isEmpty)
            #expect(try await items("class=Track&text=n6").count == 1)
            #expect(try await items("class=Track&to=2001-01-01").isEmpty)
            #expect(try await items("class=Track&from=2001-01-01").count == 8)
            #expect(try await items("operation=gap").count == 1)
            var seen: [String] = []
            var after = ""
            repeat {
                let answer = try await call(.get, "/admin/audit?class=Track&limit=3\(after)", as: "superAdmin")
                seen += answer.json["items"]?.list.compactMap { $0["id"]?.text } ?? []
                after = answer.json["next"]?.text.map { "&after=\($0)" } ?? ""
            } while !after.isEmpty && seen.count < 100
            #expect(seen.count == 8 && Set(seen).count == 8)
            for query in [
                "class=Nothing", "class=Session.speakers", "Class=Track", "class=Track&class=Event", "limit=0",
                "limit=201",
                "limit=x", "after=1", "after=1.2.3", "after=9223372036854775807.1", "after=-1.0", "from=yesterday",
                "to=99999-01-01", "operation=read", "source=device", "text=", "text=%00",
                "text=\(String(repeating: "a", count: 201))", "'%20OR%201=1", "object=%27%3B%00",
            ] {
                let answer = try await call(.get, "/admin/audit?\(query)", as: "superAdmin")
                #expect(answer.status == 400, "\(query): \(answer.text)")
            }
            for query in ["object=';DROP TABLE x", "user=%25", "text=%25_%5C", "object=x&class=Event"] {
                let encoded = query.replacing(" ", with: "%20")
                #expect(try await items(encoded).isEmpty)
            }
            #expect(try await call(.get, "/admin/audit/nothing/1", as: "superAdmin").status == 404)
            #expect(try await call(.get, "/admin/audit/tracks/1?class=Event", as: "superAdmin").status == 400)
        }
    }

    private func track(_ fixture: ServiceFixture) async throws -> ObjectId {
        let found = try await fixture.pool.query("SELECT _id FROM track LIMIT 1")
        if let row = found.first { return try row[0].objectId }
        return try await fixture.rows().insert("Track", ["event": .objectId(fixture.event), "name": "A track"])
    }

    private static let narrow = """
        version: 1
        rules:
          Session:
            - name: accepted
              applyWhen: {}
              read: true
              write: true
              fields: {title: {read: false, write: false}}
              additional_fields: {read: true, write: true}
              operations: {audit: {state: accepted}}
          Track:
            - {name: all, applyWhen: {}, read: true, write: true}
        """

    @Test("nobody sees or finds objects and properties in the log that the rules hide from them")
    func hidden() async throws {
        try await Self.run(rules: Self.narrow) { fixture, call, copy in
            try await fixture.rows().set("Session", fixture.sessions[0], "title", "Confidential")
            try await fixture.rows().set("Session", fixture.sessions[2], "level", "hard")
            try await fixture.rows().set("Track", try await track(fixture), "name", "Confidential")
            try await copy()
            let all = try await call(.get, "/admin/audit", as: "admin")
            #expect(all.status == 200, "\(all.text)")
            let items = all.json["items"]?.list ?? []
            #expect(!items.isEmpty)
            #expect(items.allSatisfy { $0["class"] == "Session" })
            // Only entries about the accepted sessions, and nothing about their titles: not even that one changed.
            let accepted = [fixture.sessions[0], fixture.draftSession].map(\.stringValue)
            #expect(Set(items.compactMap { $0["object"]?.text }) == Set(accepted))
            #expect(items.allSatisfy { $0["operation"] != "update" })
            #expect(!all.text.contains("Confidential") && !all.text.contains("\"title\""))
            for query in ["text=Confidential", "text=talk", "object=\(fixture.sessions[2])", "operation=gap"] {
                let answer = try await call(.get, "/admin/audit?\(query)", as: "admin")
                #expect(answer.json["items"]?.list.isEmpty == true, "\(query): \(answer.text)")
            }
            #expect(try await call(.get, "/admin/audit?class=Track", as: "admin").status == 403)
            let other = try await call(.get, "/admin/audit/sessions/\(fixture.sessions[2])", as: "admin")
            #expect(other.json["items"]?.list.isEmpty == true)
            #expect(try await call(.get, "/admin/audit").status == 401)
        }
    }

    @Test("restoring values, versions and deleted objects takes the caller's own rights, and is logged too")
    func putBack() async throws {
        try await Self.run { fixture, call, copy in
            let id = fixture.sessions[1].stringValue
            let path = "/admin/audit/sessions/\(id)"
            for (title, level) in [("A", "x"), ("B", "x"), ("B", "y")] {
                try await fixture.rows().set("Session", fixture.sessions[1], "title", .string(title))
                try await fixture.rows().set("Session", fixture.sessions[1], "level", .string(level))
            }
            try await copy()
            func history() async throws -> [JSON] {
                try await copy()
                return try await call(.get, path, as: "superAdmin").json["items"]?.list
                    .filter { $0["list"] == nil } ?? []
            }
            func put(_ body: String, as role: String = "superAdmin") async throws -> Answer {
                try await call(.post, "\(path)/put-back", as: role, body: body)
            }
            func now(_ column: String) async throws -> String? {
                try await fixture.pool.query(
                    "SELECT \(column) FROM session WHERE _id = $1", [.objectId(fixture.sessions[1])]
                )
                .first?[0].nonNull?.string
            }
            let entries = try await history()
            let changeToB = try #require(entries.first { $0["after"]?["title"] == "B" }?["id"]?.text)
            let changeToA = try #require(entries.first { $0["after"]?["title"] == "A" }?["id"]?.text)
            let one = try await put(#"{"entry": "\#(changeToB)", "properties": ["title"]}"#)
            #expect(one.status == 200, "\(one.text)")
            #expect(one.json["was"] == ["title": "B"])
            #expect(try await now("title") == "A")
            let back = try await put(#"{"values": {"title": "B"}}"#)
            #expect(back.status == 200 && back.json["was"] == ["title": "A"], "\(back.text)")
            let version = try await put(#"{"entry": "\#(changeToA)", "version": true}"#)
            #expect(version.status == 200, "\(version.text)")
            #expect(try await now("title") == "A")
            #expect(try await now("level") != "y")
            let newest = try await history().first
            #expect(newest?["source"] == "http" && newest?["user"]?.text == fixture.users["superAdmin"]?.stringValue)
            // This route gives nobody more rights.
            #expect(try await put(#"{"values": {"title": "C"}}"#, as: "organizer").status == 403)
            let foreign = try await call(.get, "/admin/audit?class=Event", as: "superAdmin").json["items"]?.list.first
            for (body, status) in [
                ("{}", 400), (#"{"entry": 1}"#, 400), (#"{"entry": "0"}"#, 400),
                (#"{"entry": "1", "values": {}}"#, 400),
                (#"{"entry": "999999999"}"#, 404), (#"{"entry": "\#(foreign?["id"]?.text ?? "")"}"#, 404),
                (#"{"entry": "\#(changeToB)", "properties": ["level"]}"#, 422), (#"{"values": {"nothing": 1}}"#, 422),
                (#"{"values": {"title": 1}}"#, 422),
            ] as [(String, Int)] {
                let answer = try await put(body)
                #expect(answer.status == status, "\(body): \(answer.text)")
            }

            #expect(try await call(.post, "/admin/sessions/\(id)/trash", as: "admin").status == 200)
            #expect(try await put(#"{"entry": "\#(changeToB)"}"#).status == 409)
            #expect(try await call(.delete, "/admin/trash/\(id)", as: "superAdmin").status == 200)
            #expect(try await now("title") == nil)
            let deletion = try #require(try await history().first { $0["operation"] == "delete" }?["id"]?.text)
            let made = try await put(#"{"entry": "\#(deletion)"}"#)
            #expect(made.status == 200 && made.json["isMade"] == true, "\(made.text)")
            #expect(try await now("title") == "A")
            try await copy()
            let report = try await fixture.pool.withConnection {
                try await AuditVerification.run(fixture.rules.schema, on: $0)
            }
            #expect(report.differences.isEmpty)
        }
    }

    @Test("changes of accounts are logged without secrets, and new rules with the user who made them")
    func accounts() async throws {
        try await Self.run { fixture, call, copy in
            let user = try #require(fixture.users["attendee"])
            try await fixture.pool.query(
                "UPDATE tombolo.account SET disabled_at = clock_timestamp() WHERE id = $1", [.objectId(user)])
            try await fixture.pool.query(
                "UPDATE tombolo.credential SET changed_at = clock_timestamp(), salt = salt WHERE user_id = $1",
                [.objectId(user)])
            let matrix = try await call(.get, "/admin/permissions", as: "superAdmin")
            let etag = try #require(matrix.headers[.eTag])
            let changed = try await call(
                .patch, "/admin/permissions", as: "superAdmin",
                body: #"{"role": "moderator", "service": "tracks", "operation": "create", "allowed": true}"#,
                headers: [.ifMatch: etag])
            #expect(changed.status == 200, "\(changed.text)")
            try await copy()
            let answer = try await call(.get, "/admin/audit?object=\(user)", as: "superAdmin")
            let items = answer.json["items"]?.list.filter { $0["class"] == "account" } ?? []
            #expect(items.map { $0["part"]?.text } == ["credential", "account"], "\(answer.text)")
            #expect(items.last?["after"]?["disabled_at"]?.text != nil)
            #expect(!answer.text.contains("salt") && !answer.text.contains("\"key\""))
            let rules = try await call(.get, "/admin/audit?source=http", as: "superAdmin")
            let document = rules.json["items"]?.list.first { $0["class"] == "document" }
            #expect(document?["user"]?.text == fixture.users["superAdmin"]?.stringValue, "\(rules.text)")
            #expect(document?["route"]?.text == "PATCH /admin/permissions")
            // Users who may not audit everything see neither.
            let admin = try await call(.get, "/admin/audit?limit=200", as: "admin")
            #expect(admin.json["items"]?.list.contains { ["account", "document"].contains($0["class"]) } == false)
        }
    }

    @Test("a new account is logged, and so is each of several users in one transaction")
    func madeAndShared() async throws {
        try await Self.run { fixture, call, copy in
            let user = try await fixture.authenticator.register(
                email: "new@example.org", password: ServiceFixture.password, displayName: "New")
            let sessions = Array(fixture.sessions.prefix(2))
            let users = try ["organizer", "owner"].map { try #require(fixture.users[$0]).stringValue }
            let origins = Dictionary(
                uniqueKeysWithValues: zip(sessions, users).map { session, user in
                    (
                        session.stringValue,
                        ChangeOrigin(.http, user: user, address: "192.0.2.\(user.count)", route: "POST /x")
                    )
                })
            let statement = ChangeOrigin.statement(of: origins, route: "POST /x")
            try await fixture.pool.transaction { connection in
                try await connection.query(
                    "UPDATE session SET title = 'Shared' WHERE _id = ANY ($1)", [.byteaArray(sessions.map(\.bytes))])
                try await connection.query(statement.sql, statement.parameters)
            }
            try await copy()
            let made = try await call(.get, "/admin/audit?object=\(user)", as: "superAdmin")
            let entry = made.json["items"]?.list.first { $0["part"] == "account" }
            #expect(entry?["operation"] == "create", "\(made.text)")
            #expect(entry?["after"]?["email"] == "new@example.org")
            #expect(!made.text.contains("salt"))
            for (session, user) in zip(sessions, users) {
                let answer = try await call(.get, "/admin/audit/sessions/\(session)", as: "superAdmin")
                let entry = answer.json["items"]?.list.first { $0["after"]?["title"] == "Shared" }
                #expect(entry?["user"]?.text == user && entry?["source"] == "http", "\(answer.text)")
                #expect(entry?["route"] == "POST /x" && entry?["address"]?.text == "192.0.2.24")
            }
        }
    }

    @Test("no server may change or empty the audit log, or forge an entry in it")
    func rights() async throws {
        try await Self.run { fixture, _, copy in
            try await copy()
            let pools = [fixture.adminServer.pool, fixture.ticketServer.pool]
            let months = try await fixture.pool.query(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'tombolo.audit_entry'::regclass"
            ).map { try $0[0].string }
            // There are two if the month ends during the test.
            #expect(!months.isEmpty)
            for pool in pools {
                for table in months + ["tombolo.audit_entry", "tombolo.audit_position", "tombolo.audit_baseline"] {
                    for sql in [
                        "DELETE FROM \(table)", "TRUNCATE \(table)", "DROP TABLE \(table)",
                        "INSERT INTO \(table) SELECT * FROM \(table)", "ALTER TABLE \(table) ADD COLUMN x integer",
                        table.hasSuffix("baseline")
                            ? "UPDATE \(table) SET is_done = true" : "UPDATE \(table) SET at = now()",
                    ] {
                        await #expect(throws: PostgresError.self, "\(sql)") { try await pool.execute(sql) }
                    }
                }
                await #expect(throws: PostgresError.self) {
                    try await pool.execute("INSERT INTO tombolo.audit_retention (months) VALUES (1)")
                }
                await #expect(throws: PostgresError.self) {
                    try await pool.execute("UPDATE tombolo.class_column SET is_secret = true")
                }
            }
        }
    }
}
