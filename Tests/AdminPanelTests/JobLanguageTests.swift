import HTTPTypes
import HummingbirdTesting
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP

/// Jobs' messages appear in the reader's language, however long ago they were stored.
@Suite struct JobLanguageTests {
    private typealias Site = BulkPagesTests.Site

    /// Reads over HTTP with an `Accept-Language` header; nil sends none.
    private static func get(_ path: String, _ language: String?, _ site: Site) async throws -> JSON {
        let headers: HTTPFields = language.map { [.acceptLanguage: $0] } ?? [:]
        let answer = try await Caller(site.client, site.fixture)(.get, path, as: "owner", headers: headers)
        try #require(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    private static func reasons(_ job: Int64, _ language: String?, _ site: Site) async throws -> [String?] {
        let rows = try await get("/jobs/\(job)/rows", language, site)
        return rows["rows"]?.list.map { $0["reason"]?.text } ?? []
    }

    private static func page(_ job: Int64, _ language: String, _ site: Site) async throws -> String {
        let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
        browser.setCookie("tombolo_language", language)
        return try await browser.get("/panel/jobs/\(job)").text
    }

    /// Uploads a file and starts its import.
    private static func start(_ file: String, wishes: String = "", _ site: Site) async throws -> Int64 {
        let call = Caller(site.client, site.fixture)
        let sent = try await call(.post, "/import/sessions", as: "owner", body: file, type: "text/csv")
        let id = try #require(sent.json["job"]?["id"]?.number, "\(sent.text)")
        let preview = try await call(.post, "/import/sessions/\(id)/preview", as: "owner", body: "{}")
        let version = try #require(preview.json["version"]?.text, "\(preview.text)")
        // Whoever starts it may read another language than whoever looks at its rows.
        let started = try await call(
            .post, "/import/sessions/\(id)/start", as: "owner",
            body: #"{"expect": {"version": "\#(version)"}\#(wishes)}"#, headers: [.acceptLanguage: "fr"])
        try #require(started.status == 202, "\(started.text)")
        return id
    }

    @Test("the reason why a row was refused is in the reader's language, on the page and over HTTP")
    func refused() async throws {
        try await BulkPagesTests.run { site in
            let event = site.fixture.event
            let job = try await Self.start(
                "title,startsAt,state,event\nGood,2026-12-31T09:00:00Z,pending,\(event)\n"
                    + "Bad,50% {0},pending,\(event)\n", site)
            try await site.work()
            let english =
                "Column 'startsAt': '50% {0}' isn't a date and time. "
                + "Write one such as 2026-05-14T13:22:18Z, or a day such as 2026-05-14."
            let german =
                "Spalte „startsAt“: „50% {0}“ passt nicht; erwartet wird ein Datum mit Uhrzeit. "
                + "Schreiben Sie zum Beispiel 2026-05-14T13:22:18Z oder einen Tag wie 2026-05-14."
            for language in [nil, "en", "xx", ""] {
                #expect(try await Self.reasons(job, language, site) == [nil, english], "\(language ?? "")")
            }
            #expect(try await Self.reasons(job, "de-CH, en;q=0.5", site) == [nil, german])
            let page = try await Self.page(job, "de", site)
            #expect(page.contains(german) && !page.contains("a date and time"), "\(page)")
            #expect(try await Self.page(job, "en", site).contains("isn&#39;t a date and time"))
            // SQL sees English, and what is left of the row of an earlier version is English too.
            let row = "FROM tombolo.job_row WHERE outcome = 'r'"
            #expect(try await site.fixture.pool.query("SELECT reason \(row)")[0, 0].string == english)
            try await site.fixture.pool.execute("UPDATE tombolo.job_row SET reason_wording = NULL")
            #expect(try await Self.reasons(job, "de", site) == [nil, english])
        }
    }

    @Test("the reason why a job failed, and why an undo left something alone, is in the reader's language")
    func failed() async throws {
        try await BulkPagesTests.run { site in
            let event = site.fixture.event
            let columns = "title,startsAt,state,event\n"
            let whole = try await Self.start(
                "\(columns)Good,2026-12-31T09:00:00Z,pending,\(event)\nBad,x,pending,\(event)\n",
                wishes: #", "atomic": true"#, site)
            try await site.work()
            let path = "/jobs/\(whole)"
            #expect(try await Self.get(path, nil, site)["message"] == "One row was refused; nothing was changed.")
            let german = "Eine Zeile wurde abgelehnt; geändert wurde nichts."
            #expect(try await Self.get(path, "de", site)["message"]?.text == german)
            let list = try await Self.get("/jobs", "de", site)["jobs"]?.list ?? []
            #expect(list.first { $0["id"]?.number == whole }?["message"]?.text == german)
            #expect(try await Self.page(whole, "de", site).contains(german))

            let made = try await Self.start("\(columns)Good,2026-12-31T09:00:00Z,pending,\(event)\n", site)
            try await site.work()
            try await site.fixture.pool.execute("UPDATE session SET title = 'Better' WHERE title = 'Good'")
            let undo = try await Caller(site.client, site.fixture)(.post, "/jobs/\(made)/undo", as: "owner")
            let id = try #require(undo.json["id"]?.number, "\(undo.text)")
            try await site.work()
            for (language, reason) in [(nil, "Somebody has since changed "), ("fr", "Quelqu’un a modifié ")] {
                let reasons = try await Self.reasons(id, language, site)
                #expect(reasons.count == 1 && reasons[0]?.hasPrefix(reason) == true, "\(reasons)")
            }
        }
    }
}
