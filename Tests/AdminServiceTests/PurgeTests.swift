import AdminService
import Foundation
import HTTPTypes
import HummingbirdTesting
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Synchronization
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite("Whatever has been in the trash long enough is deleted forever, automatically")
struct PurgeTests {
    static let day: Int64 = 24 * 60 * 60 * 1_000_000

    struct Site: Sendable {
        let fixture: ServiceFixture
        let call: Caller

        func purge() -> TrashPurge { TrashPurge(schema: fixture.rules.schema, pool: fixture.adminServer.pool) }

        /// Runs the purge once and returns its report.
        func run(_ now: Int64) async throws -> TrashPurge.Report { try #require(try await purge().run(now: now)) }

        /// Moves an object to the trash.
        /// - Returns: the time of its group.
        @discardableResult
        func trash(_ className: String, _ id: ObjectId) async throws -> Int64 {
            try await fixture.pool.query(
                "SELECT tombolo.trash($1, $2, 'ada', NULL)", [.text(className), .text(id.stringValue)])
            let table = fixture.rules.schema[className]?.table ?? ""
            return try await fixture.pool.query("SELECT trashed_at FROM \(table) WHERE _id = $1", [.objectId(id)])[0, 0]
                .timestampMicroseconds
        }

        func count(_ table: String) async throws -> Int {
            try await fixture.pool.query("SELECT count(*)::int FROM \(table)")[0, 0].int
        }

        func history() async throws -> JSON { try await call(.get, "/admin/trash/purge", as: "superAdmin").json }
    }

    static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.adminServer.authenticator)
            try await app.test(.router) { try await body(Site(fixture: fixture, call: Caller($0, fixture))) }
        }
    }

    @Test("a group stays for 30 days to the microsecond, then is deleted as a whole")
    func thirtyDays() async throws {
        try await Self.run { site in
            let time = try await site.trash("Event", site.fixture.event)
            let due = time + 30 * Self.day
            let early = try await site.run(due - 1)
            #expect(early.objects == 0 && early.groups == 0)
            let listed = try await site.call(.get, "/admin/trash?class=Event", as: "admin")
            #expect(listed.json["items"]?.list.first?["purgeAt"]?.text == JSON.timestamp(due))
            let report = try await site.run(due)
            #expect(report.objects == 12 && report.groups == 1 && report.failed == 0)
            #expect(try await site.count("event") == 1)
            #expect(try await site.count("session WHERE event IS NULL") == 0)
            let again = try await site.run(due + Self.day)
            #expect(again.objects == 0)
            let runs = try await site.history()["runs"]?.list ?? []
            #expect(runs.map { $0["objects"] } == [0, 12, 0])
            #expect(runs.allSatisfy { $0["finishedAt"]?.text != nil && $0["problem"] == .null })
        }
    }

    @Test("each class has its own retention, a group goes when its last object is due, and objects kept forever stay")
    func retention() async throws {
        try await Self.run { site in
            try await site.fixture.pool.execute(
                """
                INSERT INTO tombolo.trash_retention VALUES ('', 10), ('Session', 20), ('User', NULL), ('Sponsor', 0)
                """)
            let time = try await site.trash("Event", site.fixture.event)
            try await site.trash("User", try #require(site.fixture.users["attendee"]))
            #expect(try await site.run(time + 20 * Self.day - 1).objects == 0)
            #expect(try await site.run(time + 20 * Self.day).objects == 12)
            #expect(try await site.run(time + 4_000 * Self.day).objects == 0)
            let user = try await site.call(.get, "/admin/trash?class=User", as: "admin")
            #expect(user.json["items"]?.list.first?["purgeAt"] == .null)
        }
    }

    @Test("more days than a date can hold mean forever, and stop no other class")
    func endlessRetention() async throws {
        try await Self.run { site in
            try await site.fixture.pool.execute(
                "INSERT INTO tombolo.trash_retention VALUES ('User', 2147483647), ('Session', 1000001)")
            let time = try await site.trash("Ticket", site.fixture.tickets[0])
            try await site.trash("User", try #require(site.fixture.users["attendee"]))
            let report = try await site.run(time + 31 * Self.day)
            #expect(report.objects == 1 && report.failed == 0)
            let user = try await site.call(.get, "/admin/trash?class=User", as: "admin")
            #expect(user.json["items"]?.list.first?["purgeAt"] == .null, "\(user.json)")
        }
    }

    @Test("an object trashed at the last possible time stays forever, and stops no other object")
    func lastTimes() async throws {
        try await Self.run { site in
            let time = try await site.trash("Ticket", site.fixture.tickets[0])
            let last = ["294276-12-31 23:59:59+00", "294246-12-31+00"]
            for (ticket, last) in zip(site.fixture.tickets.dropFirst(), last) {
                try await site.fixture.pool.query(
                    "UPDATE ticket SET trashed_at = '\(last)' WHERE _id = $1", [.objectId(ticket)])
            }
            let report = try await site.run(time + 31 * Self.day)
            #expect(report.objects == 1 && report.failed == 0)
            #expect(try await site.count("ticket WHERE trashed_at IS NOT NULL") == 2)
        }
    }

    @Test(
        "a row that can't be deleted stops no others, is reported with the reason, and is retried at growing intervals")
    func badRows() async throws {
        try await Self.run { site in
            let (bad, good) = (site.fixture.tickets[0], site.fixture.tickets[1])
            try await site.fixture.pool.query(
                """
                CREATE TABLE invoice (ticket bytea REFERENCES ticket (_id))
                """)
            try await site.fixture.pool.query("INSERT INTO invoice VALUES ($1)", [.objectId(bad)])
            let time = try await site.trash("Ticket", bad)
            try await site.trash("Ticket", good)
            var now = time + 31 * Self.day
            let preview = try await site.purge().preview(now: now)["items"]?.list ?? []
            #expect(preview.first?["keptBecause"]?.text?.contains("'invoice'") == true, "\(preview)")
            #expect(preview.last?["keptBecause"] == .null)
            #expect(preview.map { $0["isTried"] } == [true, true])
            let report = try await site.run(now)
            #expect(report.objects == 1 && report.failed == 1)
            let kept = try #require(try await site.history()["kept"]?.list.first)
            #expect(kept["_id"]?.text == bad.stringValue && kept["class"] == "Ticket")
            #expect(kept["reason"]?.text?.contains("'invoice'") == true && kept["isFailure"] == true)
            // It's retried after an hour, then after two.
            let hour = Self.day / 24
            #expect(try await site.run(now + hour - 1).failed == 0)
            now += hour
            #expect(try await site.run(now).failed == 1)
            #expect(try await site.run(now + 2 * hour - 1).failed == 0)
            #expect(try await site.history()["kept"]?.list.first?["attempts"] == 2)
            for _ in 0..<12 {
                now += 7 * Self.day
                #expect(try await site.run(now).failed == 1)
            }
            try await site.fixture.pool.execute("TRUNCATE invoice")
            #expect(try await site.run(now + 7 * Self.day).objects == 1)
            #expect(try await site.history()["kept"]?.list == [])
        }
    }

    @Test("a user who owns or organizes an event that isn't over is kept, with the reason")
    func keptUsers() async throws {
        try await Self.run { site in
            let owner = try #require(site.fixture.users["owner"])
            let attendee = try #require(site.fixture.users["attendee"])
            let time = try await site.trash("User", owner)
            try await site.trash("User", attendee)
            try await site.fixture.rows().set("Event", site.fixture.event, "endsAt", .date(time + 40 * Self.day))
            let now = time + 31 * Self.day
            let report = try await site.run(now)
            #expect(report.objects == 1 && report.kept == 1 && report.failed == 0)
            let kept = try #require(try await site.history()["kept"]?.list.first)
            #expect(kept["_id"]?.text == owner.stringValue && kept["isFailure"] == false)
            #expect(kept["reason"]?.text?.contains("Island Days") == true, "\(kept)")
            #expect(try await site.run(time + 41 * Self.day).objects == 1)
        }
    }

    @Test("a dry run says what would be deleted and what would stay, and changes nothing")
    func dryRun() async throws {
        try await Self.run { site in
            let owner = try #require(site.fixture.users["owner"])
            try await site.trash("User", owner)
            try await site.trash("Session", site.fixture.sessions[0])
            try await site.trash("Ticket", site.fixture.tickets[0])
            try await site.fixture.pool.execute(
                """
                UPDATE users SET trashed_at = now() - interval '40 days' WHERE trashed_at IS NOT NULL;
                UPDATE session SET trashed_at = now() - interval '31 days' WHERE trashed_at IS NOT NULL;
                UPDATE event SET ends_at = now() + interval '1 day'
                """)
            let path = "/admin/trash/purge"
            let plan = try await site.call(.post, path, as: "superAdmin", body: #"{"dryRun": true}"#)
            #expect(plan.status == 200, "\(plan.text)")
            let items = plan.json["items"]?.list ?? []
            #expect(items.map { $0["count"] } == [1, 1])
            #expect(items.first?["keptBecause"]?.text?.contains("Island Days") == true)
            #expect(items.last?["keptBecause"] == .null)
            #expect(try await site.history()["runs"]?.list == [])
            #expect(try await site.count("session WHERE trashed_at IS NOT NULL") == 1)
            #expect(try await site.call(.post, path, as: "admin").status == 403)
            let real = try await site.call(.post, path, as: "superAdmin")
            #expect(real.json["objects"] == 1 && real.json["kept"] == 1, "\(real.text)")
        }
    }

    @Test("only one of several servers purges at a time, and whatever is restored meanwhile stays")
    func oneAtATime() async throws {
        try await Self.run { site in
            let time = try await site.trash("Session", site.fixture.sessions[0])
            let holder = try await PostgresConnection.connect(site.fixture.adminServer.pool.configuration)
            try await holder.execute("BEGIN; SELECT tombolo.take_purge_lock()")
            #expect(try await site.purge().run(now: time + 31 * Self.day) == nil)
            #expect(try await site.call(.post, "/admin/trash/purge", as: "superAdmin").status == 409)
            try await holder.execute("ROLLBACK")
            await holder.close()
            // A restore holds the row's lock.
            let restorer = try await PostgresConnection.connect(site.fixture.pool.configuration)
            try await restorer.execute("BEGIN")
            try await restorer.query(
                "SELECT tombolo.restore('Session', $1)", [.text(site.fixture.sessions[0].stringValue)])
            // If the restorer stalls while the purge waits for it, the purge may give up before this loop sees it waiting.
            let isOver = Atomic(false)
            async let report = {
                defer { isOver.store(true, ordering: .sequentiallyConsistent) }
                return try await site.purge().run(now: time + 31 * Self.day)
            }()
            let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            while !isOver.load(ordering: .sequentiallyConsistent), try await restorer.query(waiting).isEmpty {
                await Task.yield()
            }
            try await restorer.execute("COMMIT")
            await restorer.close()
            let result = try await report
            #expect(result?.objects == 0)
            #expect(try await site.count("session WHERE trashed_at IS NULL AND event IS NOT NULL") == 4)
        }
    }

    @Test("a run that never ended is marked, and old runs are removed")
    func oldRuns() async throws {
        try await Self.run { site in
            try await site.fixture.pool.execute(
                "INSERT INTO tombolo.trash_run (started_at) SELECT now() FROM generate_series(1, 1200)")
            _ = try await site.purge().run(now: Date().microsecondsSince1970)
            #expect(try await site.count("tombolo.trash_run") == 1_000)
            #expect(try await site.count("tombolo.trash_run WHERE problem LIKE '%ended before%'") == 999)
        }
    }
}
