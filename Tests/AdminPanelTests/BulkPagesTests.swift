@testable import AdminService
import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

@Suite("Many objects can be changed from a list, with a preview, and changed back")
struct BulkPagesTests {
    /// A panel with a conference, and the service that runs its jobs.
    struct Site: Sendable {
        let fixture: ServiceFixture
        let client: any TestClientProtocol
        let runner: JobRunner

        func work() async throws { while try await runner.step() {} }

        func titles(_ condition: String) async throws -> [String] {
            try await fixture.pool.query("SELECT title FROM session WHERE \(condition) ORDER BY title")
                .map { try $0[0].string }
        }
    }

    static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await ServiceFixture.with { fixture in
            let service = JobService(
                rules: LiveRules(fixture.rules), pool: fixture.adminServer.pool,
                authenticator: fixture.adminServer.authenticator, logger: Logger(label: "jobs"))
            try await PanelBrowser.with(fixture) { _, client in
                try await body(Site(fixture: fixture, client: client, runner: service.runner))
            }
        }
    }

    private static let pending = "/panel/bulk/sessions?filter%5Bstate%5D=pending"

    @Test("the confirmation page asks for a reason, which is stored with every trashed object")
    func reason() async throws {
        try await Self.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let trial = try await browser.submit(Self.pending, [("which", "all"), ("action", "trash")])
            #expect(trial.status == 200 && trial.text.contains(#"name="reason""#), "\(trial.text)")
            let started = try await browser.submit(
                Self.pending, PanelBrowser.hidden(trial.text) + [("reason", "Not accepted")])
            #expect(started.status == 303, "\(started.text)")
            try await site.work()
            #expect(try await site.titles("trash_reason = 'Not accepted'") == ["Talk 3"])
            let job = try await browser.get(try #require(started.headers[.location])).text
            #expect(job.contains("Not accepted"), "\(job)")
            let update = try await browser.submit(Self.pending, [("which", "all"), ("action", "update")])
            #expect(!update.text.contains(#"name="reason""#))
        }
    }

    @Test("all matches are changed after a dry run, can be followed on the job's page, and can be changed back")
    func update() async throws {
        try await Self.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let list = try await browser.get("/panel/data/sessions?filter[state]=pending").text
            #expect(list.contains("all 1 that match") && list.contains("Tick Talk 3"), "\(list)")
            #expect(list.contains(#"action="/panel/bulk/sessions?filter%5Bstate%5D=pending""#))

            let asked = try await browser.submit(Self.pending, [("which", "all"), ("action", "update")])
            #expect(asked.status == 200 && asked.text.contains(#"name="set.title""#), "\(asked.text)")
            let nothing = try await browser.submit(Self.pending, PanelBrowser.hidden(asked.text) + [("f.title", "New")])
            #expect(nothing.status == 422 && nothing.text.contains("Tick at least one field"))

            let trial = try await browser.submit(
                Self.pending, PanelBrowser.hidden(asked.text) + [("set.title", "on"), ("f.title", "New title")])
            #expect(trial.status == 200 && trial.text.contains("Change 1 session?"), "\(trial.text)")
            #expect(trial.text.contains("Title: New title") && trial.text.contains("Nothing has changed yet"))
            #expect(try await site.titles("title = 'New title'") == [])

            let started = try await browser.submit(Self.pending, PanelBrowser.hidden(trial.text))
            let job = try #require(started.headers[.location])
            #expect(started.status == 303 && job.hasPrefix("/panel/jobs/"))
            let waiting = try await browser.get(job).text
            #expect(waiting.contains("Waiting") && waiting.contains("data-follow"))
            #expect(waiting.contains("It continues with the remaining rows, and doesn&#39;t process any row twice."))
            #expect(waiting.contains(#"<noscript><meta http-equiv="refresh""#))
            try await site.work()
            let done = try await browser.get(job).text
            #expect(done.contains("1 of 1") && !done.contains("data-follow"), "\(done)")
            #expect(done.contains("Title: Talk 3 → New title") && done.contains(#"<a href="/panel/data/sessions/"#))
            #expect(try await site.titles("title = 'New title'") == ["New title"])
            #expect(try await browser.get("/panel/jobs").text.contains("Change sessions"))

            let undo = try await browser.get("\(job)/undo").text
            #expect(undo.contains("1 session: set back to the previous values."), "\(undo)")
            let undone = try await browser.post("\(job)/undo")
            #expect(undone.status == 303 && undone.headers[.location] != job)
            try await site.work()
            #expect(try await site.titles("title = 'New title'") == [])
            #expect(try await browser.get("\(job)/undo").status == 409)
            try await browser.post("\(job)/undo")
            #expect(try await browser.get(job).text.contains("undoes this one."))
        }
    }

    @Test("ticked rows can be trashed and restored; rows gone meanwhile are skipped, and ticking none is reported")
    func trash() async throws {
        try await Self.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "admin")
            let path = "/panel/bulk/sessions"
            let none = try await browser.submit(path, [("which", "chosen"), ("action", "trash")])
            #expect(none.status == 303 && none.headers[.location] == "/panel/data/sessions")
            #expect(try await browser.get("/panel/data/sessions").text.contains("Nothing is ticked."))

            let ids = site.fixture.sessions.prefix(2).map { ("id", $0.stringValue) }
            let form = [("which", "chosen"), ("action", "trash")] + ids
            let trial = try await browser.submit(path, form).text
            #expect(trial.contains("Move 2 sessions to the trash?"), "\(trial)")
            // Somebody else trashes one of them first.
            _ = try await Trash(schema: site.fixture.rules.schema, pool: site.fixture.adminServer.pool).trash(
                "Session", .objectId(site.fixture.sessions[0]), by: site.fixture.users["admin"])
            let clash = try await browser.submit(path, PanelBrowser.hidden(trial))
            #expect(clash.status == 409 && clash.text.contains("Nothing was changed."), "\(clash.text)")
            let again = try await browser.submit(path, PanelBrowser.hidden(clash.text)).text
            #expect(again.contains("Move 1 session to the trash?"))
            #expect(again.contains("1 of those that you chose no longer exists."), "\(again)")
            let started = try await browser.submit(path, PanelBrowser.hidden(again))
            #expect(started.status == 303, "\(started.text)")
            try await site.work()
            #expect(try await site.titles("trashed_at IS NOT NULL") == ["Talk 1", "Talk 2"])

            let trashed = try await browser.get("/panel/trash?class=Session").text
            #expect(trashed.contains("Restore all of Session…"))
            let restore = try await browser.submit(path, [("which", "all"), ("action", "restore")]).text
            #expect(restore.contains("Restore 2 sessions?"), "\(restore)")
            try await browser.submit(path, PanelBrowser.hidden(restore))
            try await site.work()
            #expect(try await site.titles("trashed_at IS NOT NULL") == [])
        }
    }

    @Test("an irreversible action asks for the password again, then continues with the selection, once")
    func password() async throws {
        try await Self.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "admin")
            let path = "/panel/bulk/role_assignments"
            let pool = site.fixture.pool
            let id = try await pool.query(
                "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'registrar'")[0, 0].string
            @Sendable func left() async throws -> Int {
                try await pool.query("SELECT 1 FROM role_assignment WHERE role = 'registrar'").count
            }
            let trial = try await browser.submit(path, [("which", "chosen"), ("action", "delete"), ("id", id)])
            try #require(trial.status == 200, "\(trial.text)")
            try await PanelBrowser.ageProofs(site.fixture.pool)
            let asked = try await browser.submit(path, PanelBrowser.hidden(trial.text))
            #expect(asked.status == 403 && asked.text.contains(#"name="_password""#), "\(asked.text)")
            let wrong = try await browser.submit(path, PanelBrowser.hidden(asked.text) + [("_password", "wrong")])
            #expect(wrong.status == 403 && wrong.text.contains(#"name="_password""#))
            try await site.work()
            #expect(try await left() == 1)

            let started = try await browser.submit(
                path, PanelBrowser.hidden(wrong.text) + [("_password", ServiceFixture.password)])
            #expect(started.status == 303 && started.headers[.location]?.hasPrefix("/panel/jobs/") == true)
            try await site.work()
            #expect(try await left() == 0)
            #expect(try await pool.query("SELECT 1 FROM tombolo.job").count == 1)
        }
    }

    @Test("a search limits the selection, and objects created meanwhile aren't touched")
    func search() async throws {
        try await Self.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let path = "/panel/bulk/sessions?q=talk%202&sort=title&columns=title&page%5Bsize%5D=25"
            let trial = try await browser.submit(path, [("which", "all"), ("action", "trash")]).text
            #expect(trial.contains("Move 1 session to the trash?"), "\(trial)")
            try await site.fixture.rows().set("Session", site.fixture.sessions[2], "title", "Talk 22")
            let clash = try await browser.submit(path, PanelBrowser.hidden(trial))
            #expect(clash.status == 409 && clash.text.contains("2 resources match"), "\(clash.text)")
            #expect(try await site.fixture.pool.query("SELECT 1 FROM tombolo.job").isEmpty)
            let page = try await browser.submit(
                "/panel/bulk/sessions",
                [
                    ("which", "page"), ("action", "trash"),
                    ("on-page", site.fixture.sessions.map(\.stringValue).joined(separator: " ")),
                ]
            ).text
            #expect(page.contains("Move 3 sessions to the trash?"))
        }
    }

    @Test("hostile forms are refused, a wrong value is reported at its field, and nobody can touch what they may not")
    func hostile() async throws {
        try await Self.run { site in
            let owner = try await PanelBrowser.loggedIn(site.client, as: "owner")
            for (form, status) in [
                ([("which", "all"), ("action", "explode")], 400), ([("which", "all"), ("action", "delete")], 400),
                ([("which", "chosen"), ("action", "trash"), ("id", "<script>")], 400),
                ([("which", "page"), ("action", "trash"), ("on-page", "%zz x")], 400),
                ([("which", "all"), ("action", "trash"), ("step", "start")], 428),
                ([("which", "all"), ("action", "")], 400),
            ] {
                let answer = try await owner.submit("/panel/bulk/sessions", form)
                #expect(answer.status == status, "\(form): \(answer.text)")
                #expect(!answer.text.contains("<script>"))
            }
            let wrong = try await owner.submit(
                "/panel/bulk/tickets",
                [("which", "all"), ("action", "update"), ("step", "try"), ("set.price", "on"), ("f.price", "\"<b>")])
            #expect(wrong.status == 422 && wrong.text.contains("w-f-price"), "\(wrong.text)")
            #expect(wrong.text.contains("&quot;&lt;b&gt;"))
            #expect(try await owner.submit("/panel/bulk/nothing", [("which", "all")]).status == 404)
            #expect(try await owner.get("/panel/bulk/sessions?q=x").headers[.location] == "/panel/data/sessions?q=x")

            let attendee = try await PanelBrowser.loggedIn(site.client, as: "attendee")
            let refused = try await attendee.submit(
                "/panel/bulk/sessions",
                [("which", "chosen"), ("action", "trash"), ("id", site.fixture.sessions[0].stringValue)])
            #expect([403, 404].contains(refused.status), "\(refused.text)")
            // A session of another event doesn't count.
            let foreign = try await owner.submit(
                "/panel/bulk/sessions",
                [("which", "chosen"), ("action", "trash"), ("id", site.fixture.draftSession.stringValue)])
            #expect(
                foreign.text.contains("There are no objects left to change.") || foreign.status == 403,
                "\(foreign.text)")
            #expect(!foreign.text.contains("Secret"))
        }
    }

    @Test("jobs are visible to their own user only, and can be cancelled by them")
    func jobs() async throws {
        try await Self.run { site in
            let owner = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let trial = try await owner.submit(
                "/panel/bulk/sessions", [("which", "all"), ("action", "trash")]
            ).text
            let job = try #require(
                try await owner.submit("/panel/bulk/sessions", PanelBrowser.hidden(trial)).headers[.location])
            let other = try await PanelBrowser.loggedIn(site.client, as: "superAdmin")
            for path in [job, "\(job)/undo", "/panel/jobs/x", "/panel/jobs/9223372036854775808"] {
                #expect(try await other.get(path).status == 404, "\(path)")
            }
            #expect(try await other.post("\(job)/cancel").status == 404)
            #expect(try await other.post("\(job)/undo").status == 404)
            #expect(try await other.get("/panel/jobs").text.contains("You have no jobs."))
            for wrong in ["?outcome=nothing", "?after=x"] { #expect(try await owner.get(job + wrong).status == 400) }

            #expect(try await owner.post("\(job)/cancel").headers[.location] == job)
            let ended = try await owner.get(job).text
            #expect(ended.contains("Cancelled") && ended.contains("The job was discarded."), "\(ended)")
            try await site.work()
            #expect(try await site.titles("trashed_at IS NOT NULL") == [])
            try await owner.post("\(job)/cancel")
            #expect(try await owner.get(job).text.contains("The job has ended: it&#39;s cancelled."))
        }
    }
}
