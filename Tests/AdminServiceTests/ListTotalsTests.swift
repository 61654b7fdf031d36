import AdminService
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

/// Whatever is kept: right after a commit returned, a caller gets the number as it is then.
@Suite("Totals of lists", .timeLimit(.minutes(5))) struct ListTotalsTests {
    private typealias Ask = @Sendable (_ query: String, _ role: String?) async throws -> Int64?

    /// Two servers on one database. Each question goes to both, twice, so that the second answer is a kept one.
    private static func run(
        _ body: @escaping @Sendable (ServiceFixture, _ total: @escaping Ask) async throws -> Void
    ) async throws {
        try await ServiceFixture.with { fixture in
            func server() -> HTTPApplication {
                buildAdminApplication(
                    host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                    authenticator: fixture.adminServer.authenticator)
            }
            let (first, second) = (server(), server())
            try await first.test(.router) { one in
                try await second.test(.router) { two in
                    let callers = [Caller(one, fixture), Caller(two, fixture)]
                    try await body(fixture) { query, role in
                        var totals: [Int64?] = []
                        for _ in 0..<2 {
                            for call in callers {
                                let answer = try await call(.get, "/api/\(query)&page[total]=true", as: role)
                                #expect(answer.status == 200, "\(answer.text)")
                                guard case .int(let total)? = answer.json["meta"]?["page"]?["total"] else { continue }
                                totals.append(total)
                                #expect(total == Int64(answer.json["data"]?.list.count ?? -1), "\(query)")
                            }
                        }
                        #expect(totals.count == 4 && Set(totals).count == 1, "\(query): \(totals)")
                        return totals.first ?? nil
                    }
                }
            }
        }
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
            // A change that is taken back.
            await #expect(throws: PostgresError.self) {
                try await fixture.pool.execute("BEGIN; DELETE FROM ticket; SELECT 1 / 0; COMMIT")
            }
            #expect(try await total(all, nil) == 5)
            try await fixture.pool.execute("TRUNCATE ticket")
            #expect(try await total(all, nil) == 0)
        }
    }

    @Test("are each caller's own, and follow the rows of other classes that decide")
    func callers() async throws {
        try await Self.run { fixture, total in
            let rows = fixture.rows()
            let all = "sessions?page[size]=100"
            let owners = try #require(try await total(all, "owner"))
            let attendees = try #require(try await total(all, "attendee"))
            #expect(attendees < owners)
            // A link to something in the trash is none, which is another class's row.
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
            // The trash.
            try await fixture.pool.query(
                "SELECT tombolo.trash('Session', $1, 'test', NULL)", [.text(fixture.sessions[0].stringValue)])
            #expect(try await total(all, "owner") == owners - 1)
            try await fixture.pool.query(
                "SELECT tombolo.restore('Session', $1)", [.text(fixture.sessions[0].stringValue)])
            #expect(try await total(all, "owner") == owners)
            #expect(try await total(all, "attendee") == attendees)
        }
    }

    @Test("are right beside writers, and while connections of those who ask for changes are ended")
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
}
