import AdminService
import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore
import TomboloRules

@Suite struct SchedulePagesTests {
    @Test("what runs by itself is listed with its last run, its next, and what came of it")
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
                // Its connections: the cluster is shared.
                await store.resign()
                try await AuditFollower(pool: pool).catchUp()
                await Routine.jobExpiry.note(
                    .done("jobs were forgotten"), took: .seconds(2), pause: .seconds(3_600), in: pool)
                await Routine.auditExpiry.note(
                    .failed(RequestFailure(.unavailable, "the <disk> is full")), took: .seconds(2),
                    pause: .seconds(3_600),
                    in: pool)
                await Routine.changelogRetention.note(
                    .done("nothing is old enough"), took: .zero, pause: ChangelogRetention.interval, in: pool)
                let page = try await browser.get("/panel/schedule").text
                for text in [
                    "0 objects in 0 groups were deleted permanently", "jobs were forgotten", "the &lt;disk&gt; is full",
                    "nothing is old enough", "in 59 minutes", "just now", "/panel/trash/purge", ">failed<",
                ] { #expect(page.contains(text), "\(text): \(page)") }
                // What should have run and didn't.
                try await fixture.pool.query("UPDATE tombolo.routine SET next_at = now() - interval '1 h'")
                #expect(try await browser.get("/panel/schedule").text.contains(">late<"))
                for role in ["admin", "owner"] {
                    let other = try await PanelBrowser.loggedIn(client, as: role)
                    #expect(try await other.get("/panel/schedule").status == 403)
                }
            }
        }
    }
}
