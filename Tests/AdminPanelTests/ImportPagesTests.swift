import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite("A file is uploaded through a form, its columns are chosen, and the import does what the preview shows")
struct ImportPagesTests {
    private static let boundary = "----a boundary".replacing(" ", with: "-")

    /// A form, encoded as browsers do.
    /// - Parameter token: the session's token, or nil to send none.
    private static func form(_ token: String?, _ file: String, name: String = "sessions.csv") -> String {
        var parts = token.map { ["Content-Disposition: form-data; name=\"_token\"\r\n\r\n\($0)"] } ?? []
        parts += [
            "Content-Disposition: form-data; name=\"separator\"\r\n\r\n",
            "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: text/csv\r\n\r\n\(file)",
        ]
        return parts.map { "--\(boundary)\r\n\($0)\r\n" }.joined() + "--\(boundary)--\r\n"
    }

    private static func upload(
        _ browser: PanelBrowser, _ form: String, to collection: String = "sessions", type: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        try await upload(browser, bytes: Array(form.utf8), to: collection, type: type, headers: headers)
    }

    private static func upload(
        _ browser: PanelBrowser, bytes: [UInt8], to collection: String = "sessions", type: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        headers[.contentType] = type ?? "multipart/form-data; boundary=\(boundary)"
        return try await browser.call(.post, "/panel/import/\(collection)", bytes: bytes, headers: headers)
    }

    @Test("tickets can be matched by another unique property")
    func matching() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let form = Self.form(
                try await browser.formToken(), "rank,event,price\na0,\(site.fixture.event),5\n", name: "tickets.csv")
            let sent = try await Self.upload(browser, form, to: "tickets")
            let file = try #require(sent.headers[.location], "\(sent.text)")
            let page = try await browser.get(file).text
            #expect(page.contains(#"<option value="event,rank">event and rank</option>"#), "\(page)")
            let choices = [
                "column.0": "rank", "column.1": "event", "column.2": "price", "mode": "update", "match": "event,rank",
            ]
            let preview = try await browser.post(file, choices)
            #expect(preview.text.contains(">1 row to update. <"), "\(preview.text)")
            let start = try await browser.submit("\(file)/start", PanelBrowser.hidden(preview.text))
            #expect(start.status == 303, "\(start.text)")
            try await site.work()
            let price = try await site.fixture.pool.query(
                "SELECT price FROM ticket WHERE _id = $1", [.objectId(site.fixture.tickets[0])])
            #expect(try price[0, 0].int == 5)
        }
    }

    @Test("from the list to the job, without JavaScript, and only as previewed")
    func walk() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            #expect(try await browser.get("/panel/data/sessions").text.contains(#"href="/panel/import/sessions""#))
            let page = try await browser.get("/panel/import/sessions").text
            #expect(page.contains(#"enctype="multipart/form-data""#) && page.contains(#"type="file""#))
            let talk = site.fixture.sessions[2]
            let text =
                "id;Title;state;event;Extra\n;<b>New</b>;pending;\(site.fixture.event);x\n"
                + "\(talk);Renamed;pending;\(site.fixture.event);\n;Wrong;pending;nowhere;\n"
            let sent = try await Self.upload(browser, Self.form(try await browser.formToken(), text))
            let file = try #require(sent.headers[.location], "\(sent.text)")
            #expect(sent.status == 303 && file.hasPrefix("/panel/import/sessions/"))

            let mapping = try await browser.get(file).text
            #expect(mapping.contains("sessions.csv: 3 rows. Nothing is imported yet."), "\(mapping)")
            #expect(mapping.contains(#"<option value="title" selected>"#) && mapping.contains("&lt;b&gt;New&lt;/b&gt;"))
            #expect(!mapping.contains("<b>New"))
            let none = try await browser.post(file, ["mode": "create"])
            #expect(none.status == 422 && none.text.contains("No column maps to a member."), "\(none.text)")

            let choices = [
                "column.0": "id", "column.1": "title", "column.2": "state", "column.3": "event", "column.4": "",
                "mode": "upsert",
            ]
            let preview = try await browser.post(file, choices)
            #expect(preview.text.contains("<li>Extra: No member was chosen for it.</li>"), "\(preview.text)")
            #expect(
                preview.text.contains("1 row to create, 1 row to update, 1 row with errors."), "\(preview.text)")
            #expect(
                preview.text.ranges(of: "&#39;nowhere&#39; is neither the id nor the title of one").count == 1,
                "reported once: \(preview.text)")
            #expect(preview.text.contains(#"<th scope="col">Line</th>"#))
            for word in ["Create</td>", "Update</td>", "Error</span>"] {
                #expect(preview.text.contains(word), "\(word): \(preview.text)")
            }
            #expect(preview.text.contains("Title: Renamed"))
            #expect(try await site.titles("title = 'Renamed'") == [])

            let hidden = PanelBrowser.hidden(preview.text)
            let other = hidden.map { $0.0 == "mode" ? ("mode", "create") : $0 }
            let refused = try await browser.submit("\(file)/start", other)
            #expect(
                refused.status == 422 && refused.text.contains("would no longer do what its preview showed"),
                "\(refused.text)")
            let started = try await browser.submit("\(file)/start", hidden)
            let job = try #require(started.headers[.location], "\(started.text)")
            #expect(started.status == 303 && job.hasPrefix("/panel/jobs/"))
            #expect(try await browser.get(file).headers[.location] == job, "it's a job now")
            let waiting = try await browser.get(job).text
            #expect(waiting.contains("Waiting") && !waiting.contains("The import was started."), "\(waiting)")
            try await site.work()
            let done = try await browser.get(job).text
            #expect(done.contains("Import sessions") && done.contains("3 of 3"), "\(done)")
            #expect(done.contains("<dt>File</dt><dd>sessions.csv</dd>"), "\(done)")
            let link = #"<td data-label="Object"><a href="/panel/data/sessions/"#
            #expect(done.contains("<th scope=\"row\">Line 3</th>\n\(link)\(talk)\">Renamed</a>"), "\(done)")
            #expect(
                done.contains("<th scope=\"row\">Line 4</th>\n<td data-label=\"Object\"></td>"),
                "no id for an object that was never created: \(done)")
            #expect(try await site.titles("title IN ('Renamed', '<b>New</b>')") == ["<b>New</b>", "Renamed"])
            #expect(try await browser.post("\(job)/undo").status == 303)
            try await site.work()
            #expect(try await site.titles("title IN ('Renamed', '<b>New</b>') AND trashed_at IS NULL") == [])
        }
    }

    @Test("a column of titles says what to change instead, and errors on pages refer to the page")
    func titles() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let form = Self.form(
                try await browser.formToken(), "id,title,room.title\n\(site.fixture.sessions[0]),New,Other hall\n")
            let sent = try await Self.upload(browser, form)
            let file = try #require(sent.headers[.location], "\(sent.text)")
            let page = try await browser.get(file).text
            #expect(page.contains("<small>Titles are read-only: change &#39;room&#39; instead.</small>"), "\(page)")
            let missing = try await browser.get("/panel/import/sessions/999999999")
            #expect(missing.status == 404 && missing.text.contains("The Jobs page lists yours."), "\(missing.text)")
            #expect(!missing.text.contains("GET /jobs"))
        }
    }

    @Test("after a file that can't be read, the page shows the reason and a field for another file")
    func unreadable() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let token = try await browser.formToken()
            for (file, status, message) in [
                ("title\nx,y\n", 422, "Line 2: The row has 2 cells, but the header has 1."),
                ("PK\u{3}\u{4}x", 422, "This is an Excel workbook"), ("", 422, "The file has no rows."),
            ] {
                let form = Self.form(token, file).replacing(
                    "name=\"separator\"\r\n\r\n", with: "name=\"separator\"\r\n\r\ncomma")
                let answer = try await Self.upload(browser, form)
                #expect(answer.status == status, "\(answer.text)")
                #expect(answer.text.contains("role=\"alert\">\n<p>\(message)"), "\(answer.text)")
                #expect(answer.text.contains(#"type="file""#) && answer.text.contains(#"value="comma" selected"#))
            }
            let none = try await Self.upload(browser, Self.form(token, "", name: ""))
            #expect(none.status == 400 && none.text.contains("No file was chosen."), "\(none.text)")
            #expect(try await site.fixture.pool.query("SELECT count(*)::int FROM tombolo.job")[0, 0].int == 0)
        }
    }

    @Test("a file that isn't UTF-8 is still read, and its pages say so")
    func windows1252() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let note = "The file isn&#39;t UTF-8, so it was read as Windows-1252."
            let text = "title;state;event\r\nFrühstück;pending;\(site.fixture.event)\r\n"
            let form = Self.form(try await browser.formToken(), text)
            let plain = try #require(try await Self.upload(browser, form).headers[.location])
            #expect(try await !browser.get(plain).text.contains(note))
            let sent = try await Self.upload(browser, bytes: form.unicodeScalars.map { UInt8($0.value) })
            let file = try #require(sent.headers[.location], "\(sent.text)")
            let mapping = try await browser.get(file).text
            #expect(mapping.contains(note) && mapping.contains("Frühstück"), "\(mapping)")
            let preview = try await browser.post(
                file, ["column.0": "title", "column.1": "state", "column.2": "event", "mode": "create"])
            #expect(preview.text.contains(note) && preview.text.contains("Title: Frühstück"), "\(preview.text)")
        }
    }

    @Test("rows without a change are counted as unchanged")
    func unchanged() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let rows = site.fixture.sessions.prefix(3).enumerated().map { "\($1),Talk \($0 + 1)\n" }.joined()
            let form = Self.form(try await browser.formToken(), "id,title\n" + rows.replacing("Talk 2", with: "Other"))
            let file = try #require(try await Self.upload(browser, form).headers[.location])
            let preview = try await browser.post(file, ["column.0": "id", "column.1": "title", "mode": "update"])
            #expect(preview.text.contains(">1 row to update, 2 rows unchanged. <"), "\(preview.text)")
            #expect(preview.text.contains("Unchanged</td>"), "\(preview.text)")
        }
    }

    @Test("an import is offered to users who can do one, with what they can do")
    func offers() async throws {
        try await BulkPagesTests.run { site in
            let link = #"href="/panel/import/users""#
            // Everybody may change their own user, and administrators may change all. Nobody can create one.
            for (role, isOffered) in [("attendee", false), ("owner", false), ("admin", true)] {
                let browser = try await PanelBrowser.loggedIn(site.client, as: role)
                let list = try await browser.get("/panel/data/users")
                #expect(list.status == 200 && list.text.contains(link) == isOffered, "\(role): \(list.text)")
            }
            let browser = try await PanelBrowser.loggedIn(site.client, as: "admin")
            let form = Self.form(try await browser.formToken(), "id,displayName\n\(ObjectId.generate()),Ada\n")
            let file = try #require(try await Self.upload(browser, form, to: "users").headers[.location])
            let page = try await browser.get(file).text
            #expect(page.contains(#"name="mode" value="update" checked> Update existing ones only"#), "\(page)")
            #expect(!page.contains("Create new ones"), "\(page)")
            let preview = try await browser.post(file, ["column.0": "id", "column.1": "displayName"])
            #expect(preview.text.contains(">1 row with errors. <"), "\(preview.text)")
        }
    }

    @Test("a file isn't read unless the session's token comes before it, and nobody gets at somebody else's file")
    func rights() async throws {
        try await BulkPagesTests.run { site in
            let browser = try await PanelBrowser.loggedIn(site.client, as: "owner")
            let token = try await browser.formToken()
            let stranger = try await PanelBrowser.loggedIn(site.client, as: "stranger")
            let attendee = try await PanelBrowser.loggedIn(site.client, as: "attendee")
            let text = "title,state,event\nMine,pending,\(site.fixture.event)\n"
            for (form, type) in [
                (Self.form(nil, text), nil), (Self.form(try await stranger.formToken(), text), nil),
                (Self.form(token, text), "application/octet-stream"), ("_token=\(token)", nil),
                ("_token=\(token)", "application/x-www-form-urlencoded"),
            ] as [(String, String?)] {
                let answer = try await Self.upload(browser, form, type: type)
                #expect(answer.status == 403 || answer.status == 400, "\(answer.status) \(form)")
            }
            let foreign = try await Self.upload(
                browser, Self.form(token, text), headers: [HTTPField.Name("Sec-Fetch-Site")!: "cross-site"])
            #expect(foreign.status == 403)
            let refused = try await Self.upload(attendee, Self.form(try await attendee.formToken(), text))
            #expect(refused.status == 403)
            let cut = String(Self.form(token, text).dropLast(12))
            #expect(try await Self.upload(browser, cut).status == 400, "an incomplete form")
            #expect(try await Self.upload(browser, Self.form(token, "title\n\"x")).status == 422)
            #expect(try await Self.upload(browser, Self.form(token, "", name: "")).status == 400, "no file")
            #expect(try await site.fixture.pool.query("SELECT count(*)::int FROM tombolo.job")[0, 0].int == 0)

            let sent = try await Self.upload(browser, Self.form(token, text))
            let file = try #require(sent.headers[.location])
            #expect(try await stranger.get(file).status == 404)
            #expect(try await stranger.post(file).status == 404)
            #expect(try await stranger.post("\(file)/start").status == 404)
            #expect(try await browser.get(file.replacing("sessions", with: "tickets")).status == 404)
            for address in ["/panel/import/sessions/x", "/panel/import/nothing", "/panel/import/sessions/999"] {
                #expect(try await browser.get(address).status == 404, "\(address)")
            }
        }
    }
}
