import AdminService
import Foundation
import HTTPTypes
import Logging
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloPostgresStore
import TomboloRules

@testable import AdminPanel

@Suite struct SchedulePagesTests {
    private static let path = "/panel/schedule"
    private static let jobExpiry = "\(path)/jobExpiry/run"

    /// Records a run as if the server had just deleted old jobs.
    private static func noteJobExpiry(_ fixture: ServiceFixture) async {
        await Routine.jobExpiry.note(
            .done([.untranslated("jobs were forgotten")]), took: .seconds(2), pause: .seconds(3_600),
            in: fixture.adminServer.pool)
    }

    @Test("times set to infinity, or before all times, are shown as they are")
    func infiniteTimes() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                await Self.noteJobExpiry(fixture)
                for (started, finished, next) in [
                    ("-infinity", "-infinity", "-infinity"), ("infinity", "infinity", "infinity"),
                    ("-infinity", "infinity", "-infinity"), ("infinity", "-infinity", "infinity"),
                ] {
                    try await fixture.pool.execute(
                        """
                        UPDATE tombolo.routine
                        SET started_at = '\(started)', finished_at = '\(finished)', next_at = '\(next)'
                        """)
                    try await fixture.pool.execute("DELETE FROM tombolo.trash_run")
                    try await fixture.pool.execute(
                        "INSERT INTO tombolo.trash_run (started_at, finished_at) VALUES ('\(started)', '\(finished)')")
                    let page = try await browser.get(Self.path)
                    #expect(page.status == 200 && page.text.contains("jobs were forgotten"), "\(page.text)")
                    #expect(page.text.contains(">late<") == (next == "-infinity" || finished == "-infinity"))
                }
            }
        }
    }

    @Test("each scheduled job is listed with its last run, its next run and the result")
    func list() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let before = try await browser.get("/panel/schedule")
                #expect(before.status == 200 && before.text.contains("never ran"), "\(before.text)")
                let pool = fixture.adminServer.pool
                let purge = TrashPurge(schema: fixture.rules.schema, pool: pool)
                _ = try await purge.run(now: Date().microsecondsSince1970)
                let store = try await PostgresServerStore.open(schema: fixture.rules.schema, pool: fixture.pool)
                _ = try await store.makeTick()
                // Closes its connections, because the cluster is shared.
                await store.resign()
                try await AuditFollower(pool: pool).catchUp()
                var page = ""
                // The expected phrases hold for less than a minute; once that has passed, set the runs to a moment ago again.
                var isInTime = false
                while !isInTime {
                    let began = ContinuousClock.now
                    await Self.noteJobExpiry(fixture)
                    await Routine.auditExpiry.note(
                        .failed(RequestFailure(.unavailable, "the <disk> is full")), took: .seconds(2),
                        pause: .seconds(3_600), in: pool)
                    await Routine.changelogRetention.note(
                        .done([.untranslated("nothing is old enough")]), took: .zero,
                        pause: ChangelogRetention.interval, in: pool)
                    page = try await browser.get("/panel/schedule").text
                    isInTime = ContinuousClock.now - began < .seconds(55)
                }
                for text in [
                    "0 objects in 0 groups were deleted permanently", "jobs were forgotten", "the &lt;disk&gt; is full",
                    "nothing is old enough", "in 59 minutes", "just now", "/panel/trash/purge", ">failed<",
                ] { #expect(page.contains(text), "\(text): \(page)") }
                // A run that should have happened, but didn't.
                try await fixture.pool.query("UPDATE tombolo.routine SET next_at = now() - interval '1 h'")
                #expect(try await browser.get("/panel/schedule").text.contains(">late<"))
                for role in ["admin", "owner"] {
                    let other = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await other.get("/panel/schedule").status == 403)
                }
            }
        }
    }

    @Test("a job is run by its button, waits until a server takes it, and is late if none does")
    func run() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                // No server has ever run it, so none is expected to.
                #expect(try await !browser.get(Self.path).text.contains("Run now"))
                #expect(try await browser.post(Self.jobExpiry).status == 303)
                #expect(try await browser.get(Self.path).text.contains("No server has ever run this job."))

                await Self.noteJobExpiry(fixture)
                let before = try await browser.get(Self.path).text
                #expect(before.contains("action=\"\(Self.jobExpiry)\"") && !before.contains("data-follow"), "\(before)")
                #expect(!before.contains("\(Self.path)/auditExpiry/run") && !before.contains("\(Self.path)/purge/run"))
                var asked = ContinuousClock.now
                let answer = try await browser.post(Self.jobExpiry)
                #expect(answer.status == 303 && answer.headers[.location] == Self.path, "\(answer.text)")
                var waiting = try await browser.get(Self.path).text
                #expect(waiting.contains("The job begins in a moment."), "\(waiting)")
                // It counts as late after two minutes; if those have passed, pretend that it was requested just now.
                while waiting.contains(">late<") {
                    try #require(ContinuousClock.now - asked > .seconds(120), "\(waiting)")
                    asked = .now
                    try await fixture.pool.query("UPDATE tombolo.routine SET next_at = clock_timestamp()")
                    waiting = try await browser.get(Self.path).text
                }
                for text in [">waiting<", "data-follow"] {
                    #expect(waiting.contains(text), "\(text): \(waiting)")
                }
                // Requesting it again changes nothing.
                #expect(try await browser.post(Self.jobExpiry).status == 303)
                #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.panel_run").count == 1)

                let pause = Duration.seconds(3_600)
                #expect(try await Routine.jobExpiry.take(pause: pause, in: fixture.adminServer.pool))
                #expect(try await browser.get(Self.path).text.contains(">runs<"))
                #expect(try await browser.post(Self.jobExpiry).status == 303)
                #expect(try await browser.get(Self.path).text.contains("This job is already running."))
                #expect(try await !Routine.jobExpiry.take(pause: pause, in: fixture.adminServer.pool))

                await Self.noteJobExpiry(fixture)
                #expect(try await browser.post(Self.jobExpiry).status == 303)
                try await fixture.pool.query(
                    "UPDATE tombolo.routine SET next_at = next_at - interval '3 minutes'")
                let late = try await browser.get(Self.path).text
                #expect(late.contains(">late<") && !late.contains("data-follow"), "\(late)")
                for work in ["purge", "auditCopy", "jobs", "backup", "nothing"] {
                    #expect(try await browser.post("\(Self.path)/\(work)/run").status == 404, "\(work)")
                }
            }
        }
    }

    @Test("only super administrators can run jobs, as themselves and from the panel's own page")
    func access() async throws {
        try await ServiceFixture.with { fixture in
            await Self.noteJobExpiry(fixture)
            try await PanelBrowser.with(fixture) { _, client in
                for role in ["admin", "owner", "organizer", "registrar", "attendee"] {
                    let browser = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await browser.post(Self.jobExpiry).status == 403, "\(role)")
                }
                let boss = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                #expect(try await boss.send(Self.jobExpiry, [:], token: nil).status == 403)
                let token = try await boss.formToken()
                let user = try #require(fixture.users["superAdmin"])
                #expect(try await boss.post("/panel/view-as", ["user": "\(user)"]).status == 303)
                let viewed = try await boss.get(Self.path)
                #expect(viewed.status == 200 && !viewed.text.contains(Self.jobExpiry), "\(viewed.text)")
                #expect(try await boss.send(Self.jobExpiry, [:], token: token).status == 403)
                #expect(try await fixture.pool.query("SELECT 1 FROM tombolo.panel_run").isEmpty)
            }
            // What users see who may only look.
            let works = try await Schedule(fixture.adminServer.pool).works(now: Date().microsecondsSince1970)
            func actions(mayRun: Bool) -> [String] {
                let content = ScheduleContent(works, mayPurge: false, mayBackUp: false, mayRun: mayRun, now: 0)
                return content.works.compactMap(\.run)
            }
            #expect(actions(mayRun: true) == [Self.jobExpiry] && actions(mayRun: false).isEmpty)
        }
    }

    @Test("a working admin server runs the job that a button requested")
    func work() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { _, client in
                let browser = try await PanelBrowser.loggedIn(client, as: "superAdmin")
                let service = JobService(
                    rules: LiveRules(fixture.rules), pool: fixture.adminServer.pool,
                    authenticator: fixture.adminServer.authenticator, logger: Logger(label: "jobs"))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await service.run() }
                    /// Waits for the server to run the job.
                    func runs() async throws {
                        let deadline = ContinuousClock.now + .seconds(600)
                        while true {
                            let found = try await fixture.pool.query(
                                """
                                SELECT 1 FROM tombolo.routine WHERE finished_at >= started_at
                                    AND result LIKE 'jobs that ended long ago%'
                                """)
                            if !found.isEmpty { return }
                            try #require(ContinuousClock.now < deadline, "no run")
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    }
                    // The very first run.
                    try await runs()
                    await Self.noteJobExpiry(fixture)
                    #expect(try await browser.post(Self.jobExpiry).status == 303)
                    try await runs()
                    #expect(try await browser.get(Self.path).text.contains("jobs that ended long ago were deleted"))
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
        }
    }
}
