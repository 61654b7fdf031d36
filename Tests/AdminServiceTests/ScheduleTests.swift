import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore
import TomboloRules

@testable import AdminService

@Suite("Requested runs of scheduled jobs") struct ScheduleTests {
    /// A fixture's jobs, and the user who requests them.
    private struct Site: Sendable {
        let fixture: ServiceFixture
        let user: ObjectId

        init(_ fixture: ServiceFixture) throws {
            self.fixture = fixture
            user = try #require(fixture.users["superAdmin"])
        }

        var pool: PostgresPool { fixture.adminServer.pool }

        func ask(for kind: ScheduledWork.Kind) async throws { try await Schedule(pool).ask(for: kind, by: user) }

        func work(_ kind: ScheduledWork.Kind) async throws -> ScheduledWork {
            try #require(try await Schedule(pool).works(now: 0).first { $0.kind == kind })
        }

        /// The run that began after a given time, once it has ended.
        func run(of kind: ScheduledWork.Kind, after start: Int64) async throws -> ScheduledWork {
            let deadline = ContinuousClock.now + .seconds(600)
            while true {
                let work = try await work(kind)
                if !work.isRunning, let begun = work.startedAt, begun > start { return work }
                try #require(ContinuousClock.now < deadline, "no run of \(kind) after \(start)")
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        /// The changelog's entries for the audit log: who requested what.
        func entries() async throws -> [[String]] {
            try await fixture.pool.query(
                """
                SELECT key, marks::jsonb -> 'after' ->> 'routine' FROM tombolo.changelog
                WHERE class = -1 AND marks::jsonb ->> 'table' = 'panel_run' ORDER BY seq
                """
            ).map { [try $0[0].string, try $0[1].string] }
        }

        /// Runs a kind of job until cancelled, as an admin server does.
        func serve(_ kind: ScheduledWork.Kind) async throws {
            switch kind {
            case .auditExpiry: await AuditFollower(pool: pool).run()
            default:
                try await JobService(
                    rules: LiveRules(fixture.rules), pool: pool, authenticator: fixture.adminServer.authenticator,
                    logger: Logger(label: "jobs")
                ).run()
            }
        }
    }

    @Test(
        "the server that runs the job starts it within seconds of the request, long before it's due",
        arguments: [ScheduledWork.Kind.auditExpiry, .jobExpiry])
    func begins(kind: ScheduledWork.Kind) async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await site.serve(kind) }
                let first = try await site.run(of: kind, after: 0)
                let begun = try #require(first.startedAt)
                try await site.ask(for: kind)
                let second = try await site.run(of: kind, after: begun)
                #expect(second.problem == nil && second.result == first.result)
                let (ended, next) = (try #require(second.finishedAt), try #require(second.nextAt))
                #expect(next - ended > 3_500_000_000, "the next one is an hour later")
                group.cancelAll()
                try await group.waitForAll()
            }
            let routine = try #require(kind.routine)
            #expect(try await site.entries() == [[site.user.stringValue, routine.rawValue]])
        }
    }

    @Test(
        "requesting twice makes one run, and a run in progress can't be requested",
        arguments: [ScheduledWork.Kind.auditExpiry, .jobExpiry, .changelogRetention])
    func twice(kind: ScheduledWork.Kind) async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let routine = try #require(kind.routine)
            let hour = Duration.seconds(3_600)
            let never = await #expect(throws: RequestFailure.self) { try await site.ask(for: kind) }
            #expect(never?.code == .conflict)
            #expect(try await !site.work(kind).canBeAskedFor)

            await routine.note(.done([.untranslated("done")]), took: .seconds(1), pause: hour, in: site.pool)
            #expect(try await site.work(kind).canBeAskedFor)
            #expect(try await !routine.take(pause: hour, in: site.pool))
            for _ in 0..<2 { try await site.ask(for: kind) }
            #expect(try await site.entries().count == 1)
            let due = try #require(try await site.work(kind).nextAt)
            let asked = try await site.work(kind)
            #expect(asked.isWaiting(due) && !asked.isLate(due) && asked.isLate(due + 121_000_000))

            #expect(try await routine.take(pause: hour, in: site.pool))
            #expect(try await !routine.take(pause: hour, in: site.pool))
            #expect(try await site.work(kind).isRunning)
            let running = await #expect(throws: RequestFailure.self) { try await site.ask(for: kind) }
            #expect(running?.code == .conflict)
            #expect(try await site.entries().count == 1)

            await routine.note(.done([.untranslated("done")]), took: .seconds(1), pause: hour, in: site.pool)
            try await site.ask(for: kind)
            #expect(try await site.entries().count == 2)
            #expect(try await routine.take(pause: hour, in: site.pool))

            // As if its process had been killed.
            try await fixture.pool.query("UPDATE tombolo.routine SET started_at = now() - interval '16 minutes'")
            try await fixture.pool.query("UPDATE tombolo.routine SET finished_at = now() - interval '1 hour'")
            try await site.ask(for: kind)
            #expect(try await routine.take(pause: hour, in: site.pool))
        }
    }

    @Test(
        "jobs that run all the time or have their own page can't be requested here",
        arguments: [ScheduledWork.Kind.purge, .auditCopy, .jobs, .backup])
    func others(kind: ScheduledWork.Kind) async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let failure = await #expect(throws: RequestFailure.self) { try await site.ask(for: kind) }
            #expect(failure?.code == .notFound)
            #expect(try await site.entries().isEmpty)
        }
    }
}
