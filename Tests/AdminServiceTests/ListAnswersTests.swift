import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Synchronization
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Despite caching, a caller gets current lists and totals as soon as a commit has returned.
@Suite("Lists and their totals", .timeLimit(.minutes(15))) struct ListAnswersTests {
    private typealias Ask = @Sendable (_ query: String, _ role: String?) async throws -> Int64?

    private static func server(_ fixture: ServiceFixture, _ rules: LiveRules? = nil) -> HTTPApplication {
        buildAdminApplication(
            host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: rules ?? LiveRules(fixture.rules),
            authenticator: fixture.adminServer.authenticator)
    }

    /// Two servers on one database. Each question goes to both, twice, so that the second answer comes from the cache, and to a
    /// third server that has just started and has nothing cached.
    private static func run(
        _ body: @escaping @Sendable (ServiceFixture, _ total: @escaping Ask) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            try await server(fixture).test(.router) { one in
                try await server(fixture).test(.router) { two in
                    let callers = [Caller(one, fixture), Caller(two, fixture)]
                    try await body(fixture) { query, role in
                        let total = try await ask("\(query)&page[total]=true", role, callers, fixture)
                        _ = try await ask(query, role, callers, fixture)
                        return total
                    }
                }
            }
        }
    }

    /// - Returns: the total, if the query asks for it.
    private static func ask(
        _ query: String, _ role: String?, _ callers: [Caller], _ fixture: ServiceFixture
    ) async throws -> Int64? {
        let path = "/api/\(query)"
        let now = try await server(fixture).test(.router) { try await Caller($0, fixture)(.get, path, as: role) }
        #expect(now.status == 200, "\(now.text)")
        for _ in 0..<2 {
            for call in callers {
                let answer = try await call(.get, path, as: role)
                #expect(answer.text == now.text, "\(query)")
                #expect(answer.headers[.eTag] == now.headers[.eTag], "\(query)")
                let tag = try #require(answer.headers[.eTag])
                let again = try await call(.get, path, as: role, headers: [.ifNoneMatch: tag])
                #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag)
            }
        }
        guard case .int(let total)? = now.json["meta"]?["page"]?["total"] else { return nil }
        #expect(total == Int64(now.json["data"]?.list.count ?? -1), "\(query)")
        return total
    }

    @Test("show every kind of change by plain SQL, at once and on every server")
    func changes() async throws {
        try await Self.run { fixture, total in
            let (rows, t) = (fixture.rows(), fixture.tickets)
            let all = "tickets?page[size]=100"
            let early = "tickets?filter[name]=Early"
            #expect(try await total(all, nil) == 4)
            #expect(try await total(early, nil) == 1)
            try await rows.set("Ticket", t[0], "name", "Earliest")
            #expect(try await total(early, nil) == 0)
            try await rows.set("Ticket", t[2], "isHidden", .bool(false))
            #expect(try await total(all, nil) == 5)
            let new = try await rows.insert(
                "Ticket",
                ["event": .objectId(fixture.event), "name": "Early", "rank": "a0V", "kind": "free", "currency": "EUR"])
            #expect(try await total(all, nil) == 6)
            #expect(try await total(early, nil) == 1)
            try await fixture.pool.query("DELETE FROM ticket WHERE _id = $1", [.objectId(new)])
            #expect(try await total(all, nil) == 5)
            // Spelled with two code points, it's a different name.
            try await rows.set("Ticket", t[0], "name", "Caf\u{E9}")
            #expect(try await total("tickets?filter[name]=Caf%C3%A9", nil) == 1)
            #expect(try await total("tickets?filter[name]=Cafe%CC%81", nil) == 0)
            // A change that is rolled back.
            await #expect(throws: PostgresError.self) {
                try await fixture.pool.execute("BEGIN; DELETE FROM ticket; SELECT 1 / 0; COMMIT")
            }
            #expect(try await total(all, nil) == 5)
            try await fixture.pool.execute("TRUNCATE ticket, orders")
            #expect(try await total(all, nil) == 0)
        }
    }

    @Test("are separate for each caller, and follow the rows of other classes that permissions depend on")
    func callers() async throws {
        try await Self.run { fixture, total in
            let rows = fixture.rows()
            let all = "sessions?page[size]=100"
            let owners = try #require(try await total(all, "owner"))
            let attendees = try #require(try await total(all, "attendee"))
            #expect(attendees < owners)
            // A link to a trashed object counts as null, and that depends on a row of another class.
            let track = try await rows.insert(
                "Track", ["event": .objectId(fixture.event), "name": "Here", "color": "#000000"])
            try await rows.set("Session", fixture.sessions[1], "track", .objectId(track))
            let linked = "sessions?page[size]=100&filter[track][isNull]=false"
            #expect(try await total(linked, "owner") == 1)
            try await fixture.pool.query("SELECT tombolo.trash('Track', $1, 'test', NULL)", [.text(track.stringValue)])
            #expect(try await total(linked, "owner") == 0)
            #expect(try await total(all, "owner") == owners)
            try await fixture.pool.query("SELECT tombolo.restore('Track', $1)", [.text(track.stringValue)])
            #expect(try await total(linked, "owner") == 1)
            // Trashing the object itself.
            try await fixture.pool.query(
                "SELECT tombolo.trash('Session', $1, 'test', NULL)", [.text(fixture.sessions[0].stringValue)])
            #expect(try await total(all, "owner") == owners - 1)
            try await fixture.pool.query(
                "SELECT tombolo.restore('Session', $1)", [.text(fixture.sessions[0].stringValue)])
            #expect(try await total(all, "owner") == owners)
            #expect(try await total(all, "attendee") == attendees)
        }
    }

    @Test("stay correct while rows are written and the connections that check for changes are terminated")
    func writers() async throws {
        try await Self.run { fixture, total in
            let rows = fixture.rows()
            for round in 0..<20 {
                async let written = rows.insert(
                    "Ticket",
                    [
                        "event": .objectId(fixture.event), "name": "New", "rank": .string("b\(round)"), "kind": "free",
                        "currency": "EUR",
                    ])
                if round % 5 == 4 {
                    try await fixture.pool.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                            + "WHERE application_name = 'tombolo-admin-changes' AND datname = current_database()")
                }
                _ = try await written
                #expect(try await total("tickets?page[size]=100", nil) == Int64(5 + round))
            }
        }
    }

    @Test("show changes to an object, its lists and what it links to")
    func contents() async throws {
        try await Self.run { fixture, total in
            let rows = fixture.rows()
            for role in ["owner", "attendee"] {
                let all = "sessions?page[size]=100"
                let count = try await total(all, role)
                try await rows.set("Session", fixture.sessions[0], "title", .string("Renamed for \(role)"))
                #expect(try await total(all, role) == count)
                try await fixture.pool.query(
                    "UPDATE session_speakers SET rank = rank || 'x' WHERE owner = $1 AND target = $2",
                    [.bytea(fixture.sessions[0].bytes), .bytea(fixture.speakers[0].bytes)])
                #expect(try await total(all, role) == count)
                let speaker = fixture.speakers[1].stringValue
                for move in ["trash('Speaker', $1, 'test', NULL)", "restore('Speaker', $1)"] {
                    try await fixture.pool.query("SELECT tombolo.\(move)", [.text(speaker)])
                    #expect(try await total(all, role) == count)
                    _ = try await total("sessions?page[size]=100&include=speakers", role)
                    _ = try await total("sessions?page[size]=100&fields[sessions]=title", role)
                    _ = try await total("sessions/\(fixture.sessions[0].stringValue)/speakers?page[size]=100", role)
                }
            }
        }
    }

    @Test("are cached: a repeated question is answered even while the table can't be read")
    func kept() async throws {
        try await ServiceFixture.with { fixture in
            try await Self.server(fixture).test(.router) { client in
                let call = Caller(client, fixture)
                let path = "/api/speakers?sort=name&page[total]=true"
                let first = try await call(.get, path, as: "attendee")
                #expect(first.status == 200)
                // The first check for changes reports that anything may have changed, so only the second answer is cached.
                #expect(try await call(.get, path, as: "attendee").text == first.text)
                let connection = try await PostgresConnection.connect(fixture.pool.configuration)
                try await connection.execute("BEGIN; LOCK TABLE speaker IN ACCESS EXCLUSIVE MODE")
                #expect(try await call(.get, path, as: "attendee").text == first.text)
                try await connection.execute("ROLLBACK")
                await connection.close()
            }
        }
    }

    @Test("follow new rules at once")
    func newRules() async throws {
        try await ServiceFixture.with { fixture in
            let newest = Mutex(fixture.rules)
            let rules = LiveRules { newest.withLock { $0 } }
            try await Self.server(fixture, rules).test(.router) { client in
                let call = Caller(client, fixture)
                func use(_ text: String) throws {
                    let book = try RuleBook(parsing: text, file: "test.yaml")
                    let changed = try Rules(schema: fixture.rules.schema, book: book)
                    newest.withLock { $0 = changed }
                }
                func speakers() async throws -> (names: [String], text: String) {
                    let answer = try await call(.get, "/api/speakers?sort=name", as: "attendee")
                    return (JSONAPIReadingTests.attributes(answer, "name"), answer.text)
                }
                let all = try await speakers()
                #expect(all.names == ["Ada", "Grace"])
                #expect(try await speakers().text == all.text)
                try use("Speaker: [{name: user, applyWhen: {}, read: {name: Ada}}]")
                #expect(try await speakers().names == ["Ada"])
                try use(
                    """
                    Speaker:
                      - {name: user, applyWhen: {}, fields: {isPublic: {read: true}}, additional_fields: {read: false}}
                    """)
                #expect(try await speakers().names == [])
                try use("Speaker: []")
                #expect(try await call(.get, "/api/speakers?sort=name", as: "attendee").status == 403)
                newest.withLock { $0 = fixture.rules }
                #expect(try await speakers().text == all.text)
            }
        }
    }
}
