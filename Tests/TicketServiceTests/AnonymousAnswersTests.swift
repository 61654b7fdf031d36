import Hummingbird
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Synchronization
import TestSupport
import Testing
import TicketService
import TomboloHTTP
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// Whatever is cached, every visitor gets what a commit wrote as soon as the commit has returned.
@Suite("What anonymous visitors get", .timeLimit(.minutes(15))) struct AnonymousAnswersTests {
    /// Runs two servers on one database. Each call asks both of them twice, so that the second answers come from the cache.
    /// All answers must agree.
    private static func run(
        _ body:
            @escaping @Sendable (ServiceFixture, _ get: @escaping @Sendable (String) async throws -> Answer)
            async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            func server() throws -> HTTPApplication {
                try buildTicketApplication(
                    host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool, rules: LiveRules(fixture.rules),
                    authenticator: fixture.ticketServer.authenticator)
            }
            let (first, second) = (try server(), try server())
            try await first.test(.router) { one in
                try await second.test(.router) { two in
                    let callers = [Caller(one, fixture), Caller(two, fixture)]
                    try await body(fixture) { path in
                        var answers: [Answer] = []
                        for _ in 0..<2 {
                            for caller in callers { answers.append(try await caller(.get, path)) }
                        }
                        for answer in answers {
                            #expect(answer.text == answers[0].text)
                            #expect(answer.status == answers[0].status)
                        }
                        return answers[0]
                    }
                }
            }
        }
    }

    @Test("a list shows every kind of change made with plain SQL, at once and on every server")
    func lists() async throws {
        try await Self.run { fixture, get in
            let path = "/events/\(fixture.event)/tickets"
            func names() async throws -> [String] { TicketTests.names(try await get(path)) }
            let (t, rows) = (fixture.tickets, fixture.rows())
            #expect(try await names() == ["Early", "Regular", "Student", "Supporter"])
            try await rows.set("Ticket", t[0], "name", "Earliest")
            #expect(try await names() == ["Earliest", "Regular", "Student", "Supporter"])
            try await rows.set("Ticket", t[0], "rank", "a9")
            #expect(try await names() == ["Regular", "Student", "Supporter", "Earliest"])
            // A ticket that wasn't in the list.
            try await rows.set("Ticket", t[2], "isHidden", .bool(false))
            #expect(try await names() == ["Regular", "Staff", "Student", "Supporter", "Earliest"])
            try await rows.set("Ticket", t[2], "isHidden", .bool(true))
            let new = try await rows.insert(
                "Ticket",
                ["event": .objectId(fixture.event), "name": "New", "rank": "a0V", "kind": "free", "currency": "EUR"])
            #expect(try await names() == ["New", "Regular", "Student", "Supporter", "Earliest"])
            // The ticket moves to another event and back.
            try await rows.set("Ticket", new, "event", .objectId(fixture.draft))
            #expect(try await names() == ["Regular", "Student", "Supporter", "Earliest"])
            try await rows.set("Ticket", new, "event", .objectId(fixture.event))
            #expect(try await names() == ["New", "Regular", "Student", "Supporter", "Earliest"])
            try await fixture.pool.query("DELETE FROM ticket WHERE _id = $1", [.objectId(new)])
            #expect(try await names() == ["Regular", "Student", "Supporter", "Earliest"])
            try await fixture.pool.execute("TRUNCATE ticket, orders")
            #expect(try await names() == [])
        }
    }

    @Test("an event disappears and reappears at once when it is unpublished, trashed or restored")
    func trash() async throws {
        try await Self.run { fixture, get in
            let (list, page) = ("/events/\(fixture.event)/tickets", "/events/\(fixture.event)")
            func expect(_ status: Int) async throws {
                #expect(try await get(list).status == status)
                #expect(try await get(page).status == status)
            }
            try await expect(200)
            try await fixture.rows().set("Event", fixture.event, "state", "draft")
            try await expect(404)
            try await fixture.rows().set("Event", fixture.event, "state", "published")
            try await expect(200)
            try await fixture.pool.query(
                "SELECT tombolo.trash('Event', $1, 'tester', NULL)", [.text(fixture.event.stringValue)])
            try await expect(404)
            try await fixture.pool.query("SELECT tombolo.restore('Event', $1)", [.text(fixture.event.stringValue)])
            try await expect(200)
        }
    }

    @Test("the page shows changes to everything on it")
    func pages() async throws {
        try await Self.run { fixture, get in
            let rows = fixture.rows()
            let changes: [(className: String, id: ObjectId, property: String)] = [
                ("Event", fixture.event, "name"), ("Ticket", fixture.tickets[1], "name"),
                ("Session", fixture.sessions[0], "title"), ("Microlocation", fixture.room, "name"),
                ("Speaker", fixture.speakers[0], "name"),
            ]
            for change in changes {
                let text = "Fresh \(change.className)"
                #expect(try await !get("/events/\(fixture.event)").text.contains(text))
                try await rows.set(change.className, change.id, change.property, .string(text))
                #expect(try await get("/events/\(fixture.event)").text.contains(text))
            }
            // The speakers of a session are a list.
            #expect(try await get("/events/\(fixture.event)").text.contains("Grace"))
            try await fixture.pool.query(
                "DELETE FROM session_speakers WHERE target = $1", [.objectId(fixture.speakers[1])])
            #expect(try await !get("/events/\(fixture.event)").text.contains("Grace"))
            try await fixture.pool.query("DELETE FROM session WHERE _id = $1", [.objectId(fixture.sessions[0])])
            #expect(try await !get("/events/\(fixture.event)").text.contains("Fresh Session"))
        }
    }

    @Test("what a transaction wrote long before its commit is seen once it commits")
    func longTransactions() async throws {
        try await Self.run { fixture, get in
            let path = "/events/\(fixture.event)/tickets"
            let writer = try await PostgresConnection.connect(fixture.pool.configuration)
            try await writer.execute("BEGIN")
            try await writer.query("UPDATE ticket SET name = 'Late' WHERE _id = $1", [.objectId(fixture.tickets[0])])
            for number in 0..<3 {
                try await fixture.rows().set("Ticket", fixture.tickets[1], "name", .string("Name \(number)"))
                #expect(try await TicketTests.names(get(path)).prefix(2) == ["Early", "Name \(number)"])
            }
            try await writer.execute("COMMIT")
            #expect(try await TicketTests.names(get(path)).prefix(2) == ["Late", "Name 2"])
            try await writer.execute("BEGIN")
            try await writer.query("UPDATE ticket SET name = 'Never' WHERE _id = $1", [.objectId(fixture.tickets[0])])
            #expect(try await TicketTests.names(get(path)).first == "Late")
            try await writer.execute("ROLLBACK")
            #expect(try await TicketTests.names(get(path)).first == "Late")
            await writer.close()
        }
    }

    @Test("more changes at once than are worth listing are noticed too")
    func manyChanges() async throws {
        try await Self.run { fixture, get in
            let path = "/events/\(fixture.event)/tickets"
            #expect(try await TicketTests.names(get(path)).count == 4)
            try await fixture.pool.query(
                """
                INSERT INTO ticket (_id, event, name, kind, currency, rank)
                SELECT decode(lpad(to_hex(i), 24, '0'), 'hex'), $1, 'T', 'free', 'EUR', 'b' || lpad(i::text, 5, '0')
                FROM generate_series(1, 2000) AS i
                """, [.objectId(fixture.event)])
            #expect(try await TicketTests.names(get(path)).count == 2_004)
        }
    }

    @Test("logged-in users never get what is cached for visitors, nor visitors what users get")
    func usersAreApart() async throws {
        try await TicketTests.run { fixture, call in
            let path = "/events/\(fixture.event)/tickets"
            for _ in 0..<3 {
                for (role, hasStaff) in [(nil, false), ("organizer", true), ("attendee", false), ("superAdmin", true)] {
                    let names = TicketTests.names(try await call(.get, path, as: role))
                    #expect(names.contains("Staff") == hasStaff, "\(role ?? "nobody")")
                }
                #expect(try await call(.get, "/events/\(fixture.draft)/tickets").status == 404)
                #expect(try await call(.get, "/events/\(fixture.draft)/tickets", as: "stranger").status == 200)
            }
        }
    }

    @Test("new rules take effect at once")
    func rules() async throws {
        try await ServiceFixture.with { fixture in
            let rules = Mutex(fixture.rules)
            let app = try buildTicketApplication(
                host: "127.0.0.1", port: 0, pool: fixture.ticketServer.pool,
                rules: LiveRules { rules.withLock { $0 } }, authenticator: fixture.ticketServer.authenticator)
            let strict = try Rules(
                schema: fixture.rules.schema,
                book: RuleBook(
                    parsing: """
                        Event: [{name: all, applyWhen: {}, anonymous: true, read: true}]
                        Ticket: [{name: all, applyWhen: {}, anonymous: true, read: {name: Early}}]
                        """, file: "strict.yaml"))
            try await app.test(.router) { (client: any TestClientProtocol) async throws -> Void in
                let call = Caller(client, fixture)
                func names() async throws -> [String] {
                    TicketTests.names(try await call(.get, "/events/\(fixture.event)/tickets"))
                }
                for _ in 0..<2 {
                    #expect(try await names().count == 4)
                    #expect(try await names().count == 4)
                    rules.withLock { $0 = strict }
                    #expect(try await names() == ["Early"])
                    #expect(try await call(.get, "/events/\(fixture.event)").text.contains("Regular") == false)
                    rules.withLock { $0 = fixture.rules }
                }
            }
        }
    }

    @Test("the cache is cleared when its connection is lost, or when the database is restored under an open one")
    func restored() async throws {
        try await Self.run { fixture, get in
            let path = "/events/\(fixture.event)/tickets"
            func first() async throws -> String? { TicketTests.names(try await get(path)).first }
            #expect(try await first() == "Early")
            // No trigger logs what a restore changes.
            try await fixture.pool.withConnection { connection in
                try await connection.execute(
                    """
                    BEGIN; ALTER TABLE ticket DISABLE TRIGGER USER;
                    UPDATE ticket SET name = 'Restored' WHERE rank = 'a0' AND is_public;
                    ALTER TABLE ticket ENABLE TRIGGER USER; COMMIT
                    """)
            }
            try await fixture.pool.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'tombolo-ticket-changes' AND datname = current_database()
                """)
            #expect(try await first() == "Restored")
            try await fixture.pool.withConnection { connection in
                try await connection.execute(
                    """
                    BEGIN; ALTER TABLE ticket DISABLE TRIGGER USER;
                    UPDATE ticket SET name = 'Again' WHERE rank = 'a0' AND is_public;
                    ALTER TABLE ticket ENABLE TRIGGER USER;
                    ALTER TABLE tombolo.changelog RENAME TO changelog_before;
                    CREATE TABLE tombolo.changelog (LIKE tombolo.changelog_before INCLUDING ALL);
                    GRANT SELECT ON tombolo.changelog TO PUBLIC; COMMIT
                    """)
            }
            #expect(try await first() == "Again")
        }
    }

    @Test("readers that run alongside writers never see less than was committed before they asked")
    func readersAmongWriters() async throws {
        try await TicketTests.run { fixture, call in
            let path = "/events/\(fixture.event)/tickets"
            let committed = Progress()
            let last = 150
            try await fixture.rows().set("Ticket", fixture.tickets[0], "name", .string("0"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...last {
                        try await fixture.rows().set("Ticket", fixture.tickets[0], "name", .string("\(number)"))
                        committed.note(number)
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        while committed.value < last {
                            let before = committed.value
                            let shown = TicketTests.names(try await call(.get, path)).first.flatMap { Int($0) }
                            #expect(shown ?? -1 >= before)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private final class Progress: Sendable {
        private let state = Mutex(0)

        var value: Int { state.withLock { $0 } }
        func note(_ number: Int) { state.withLock { $0 = number } }
    }
}
