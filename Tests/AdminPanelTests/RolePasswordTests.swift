import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Every way in which the panel changes objects that give roles asks for the password again.
@Suite struct RolePasswordTests {
    /// A super administrator who has just logged in, and the registrar's role assignment.
    private struct Site: Sendable {
        let site: BulkPagesTests.Site
        let browser: PanelBrowser
        let assignment: String

        /// The role that the registrar's assignment gives now.
        func role() async throws -> String {
            try await site.fixture.pool.query(
                "SELECT role FROM role_assignment WHERE encode(_id, 'hex') = $1", [.text(assignment)])[0, 0].string
        }

        func count() async throws -> Int {
            try await site.fixture.pool.query("SELECT count(*) FROM role_assignment")[0, 0].int
        }

        /// Sends a form without a recent password, then sends the hidden fields of the password page together with the password.
        /// - Parameter isUnchanged: checks that nothing has happened yet.
        func prove(
            _ path: String, _ fields: [(String, String)], isUnchanged: @Sendable () async throws -> Bool
        ) async throws -> Answer {
            try await PanelBrowser.ageProofs(site.fixture.pool)
            let asked = try await browser.submit(path, fields)
            #expect(asked.status == 403 && asked.text.contains(#"name="_password""#), "\(asked.text)")
            #expect(asked.text.contains(#"action="\#(path)""#), "\(asked.text)")
            #expect(try await isUnchanged())
            return try await browser.submit(
                path, PanelBrowser.hidden(asked.text) + [("_password", ServiceFixture.password)])
        }
    }

    private static func run(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "superAdmin")
            let assignment = try await site.fixture.pool.query(
                "SELECT encode(_id, 'hex') FROM role_assignment WHERE role = 'registrar'")[0, 0].string
            try await body(Site(site: site, browser: browser, assignment: assignment))
        }
    }

    private static func pairs(_ form: [String: String]) -> [(String, String)] {
        form.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    @Test("an object's form, which keeps what was entered")
    func editing() async throws {
        try await Self.run { site in
            let path = "/panel/data/role_assignments/\(site.assignment)"
            var form = PanelRecordTests.fields(try await site.browser.get("\(path)/edit").text)
            try #require(form["f.role"] == "registrar")
            form["f.role"] = "moderator"
            let done = try await site.prove(path, Self.pairs(form)) { try await site.role() == "registrar" }
            #expect(done.status == 303 && done.headers[.location] == path, "\(done.text)")
            #expect(try await site.role() == "moderator")
        }
    }

    @Test("a new object's form, which creates it")
    func making() async throws {
        try await Self.run { site in
            let path = "/panel/new/role_assignments"
            var form = PanelRecordTests.fields(try await site.browser.get(path).text)
            form["f.user"] = try #require(site.site.fixture.users["attendee"]).stringValue
            form["f.role"] = "moderator"
            form["f.event"] = site.site.fixture.event.stringValue
            let before = try await site.count()
            let done = try await site.prove(path, Self.pairs(form)) { try await site.count() == before }
            #expect(done.status == 303, "\(done.text)")
            #expect(try await site.count() == before + 1)
        }
    }

    @Test("rows that are edited in a list")
    func rows() async throws {
        try await Self.run { site in
            let path = "/panel/rows/role_assignments"
            var form = PanelRecordTests.fields(try await site.browser.get(path).text)
            let found = form.first { $0.key.hasPrefix("i.") && $0.value == site.assignment }
            let row = try #require(found).key.dropFirst(2)
            try #require(form["f.\(row).role"] == "registrar")
            // No password is needed if nothing changes.
            for (name, value) in form where name.hasPrefix("i.") && value.isEmpty { form[name] = nil }
            try await PanelBrowser.ageProofs(site.site.fixture.pool)
            #expect(try await site.browser.submit(path, Self.pairs(form)).status == 303)
            form["f.\(row).role"] = "moderator"
            let done = try await site.prove(path, Self.pairs(form)) { try await site.role() == "registrar" }
            #expect(done.status == 303, "\(done.text)")
            #expect(try await site.role() == "moderator")
        }
    }

    @Test("bulk changes and their undo")
    func bulk() async throws {
        try await Self.run { site in
            let path = "/panel/bulk/role_assignments"
            let asked = try await site.browser.submit(
                path, [("which", "chosen"), ("action", "update"), ("id", site.assignment)])
            // Neither choosing fields nor the dry run needs a password.
            try await PanelBrowser.ageProofs(site.site.fixture.pool)
            let trial = try await site.browser.submit(
                path, PanelBrowser.hidden(asked.text) + [("set.role", "on"), ("f.role", "moderator")])
            try #require(trial.status == 200, "\(trial.text)")
            let jobs = { @Sendable in try await site.site.fixture.pool.query("SELECT 1 FROM tombolo.job").count }
            let started = try await site.prove(path, PanelBrowser.hidden(trial.text)) { try await jobs() == 0 }
            let job = try #require(started.headers[.location], "\(started.text)")
            #expect(started.status == 303 && job.hasPrefix("/panel/jobs/"))
            try await site.site.work()
            #expect(try await site.role() == "moderator")

            let undone = try await site.prove("\(job)/undo", []) { try await jobs() == 1 }
            #expect(undone.status == 303, "\(undone.text)")
            try await site.site.work()
            #expect(try await site.role() == "registrar")
        }
    }

    @Test("an import, but not its preview")
    func importing() async throws {
        try await Self.run { site in
            let boundary = "----a-boundary"
            let parts = [
                "Content-Disposition: form-data; name=\"_token\"\r\n\r\n\(try await site.browser.formToken())",
                "Content-Disposition: form-data; name=\"file\"; filename=\"roles.csv\"\r\nContent-Type: text/csv\r\n\r\n"
                    + "id,role\n\(site.assignment),moderator\n",
            ]
            let body = parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined() + "--\(boundary)--\r\n"
            let sent = try await site.browser.call(
                .post, "/panel/import/role_assignments", bytes: Array(body.utf8),
                headers: [.contentType: "multipart/form-data; boundary=\(boundary)"])
            let file = try #require(sent.headers[.location], "\(sent.text)")
            try await PanelBrowser.ageProofs(site.site.fixture.pool)
            let preview = try await site.browser.post(
                file, ["column.0": "id", "column.1": "role", "mode": "update"])
            try #require(preview.text.contains(">1 row to update. <"), "\(preview.text)")
            let started = try await site.prove("\(file)/start", PanelBrowser.hidden(preview.text)) {
                try await site.role() == "registrar"
            }
            #expect(started.status == 303, "\(started.text)")
            try await site.site.work()
            #expect(try await site.role() == "moderator")
        }
    }

    @Test("restoring values from the audit log")
    func puttingBack() async throws {
        try await Self.run { site in
            let path = "/panel/audit/role_assignments/\(site.assignment)/put-back"
            let done = try await site.prove(path, [("values", #"{"role": "moderator"}"#)]) {
                try await site.role() == "registrar"
            }
            #expect(done.status == 303, "\(done.text)")
            #expect(try await site.role() == "moderator")
        }
    }

    @Test("objects that give no roles need no password")
    func others() async throws {
        try await Self.run { site in
            try await PanelBrowser.ageProofs(site.site.fixture.pool)
            let path = "/panel/data/sessions/\(site.site.fixture.sessions[0])"
            var form = PanelRecordTests.fields(try await site.browser.get("\(path)/edit").text)
            form["f.title"] = "Renamed"
            #expect(try await site.browser.submit(path, Self.pairs(form)).status == 303)
            #expect(try await site.site.titles("title = 'Renamed'") == ["Renamed"])
            let removed = try await site.browser.get("\(path)/delete")
            let answer = try await site.browser.submit("\(path)/delete", PanelBrowser.hidden(removed.text))
            #expect(answer.status == 303, "\(answer.text)")
        }
    }
}
