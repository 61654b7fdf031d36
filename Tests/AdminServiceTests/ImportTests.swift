import Foundation
import HTTPTypes
import PostgresClient
import PostgresValues
import ServiceTestSupport
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite("A file is looked at, mapped, tried and imported as its person may, and the import can be undone")
struct ImportTests {
    typealias Site = BulkTests.Site

    /// An upload, and what comes after it.
    struct File: Sendable {
        let site: Site
        let collection: String
        let role: String
        let answer: Answer

        var id: Int64 { answer.json["job"]?["id"]?.number ?? 0 }

        func preview(_ wishes: String = "{}", as role: String? = nil) async throws -> Answer {
            try await site.call(
                .post, "/import/\(collection)/\(id)/preview", as: role ?? self.role, body: wishes)
        }

        /// - Parameter version: nil for what a preview says now.
        func start(_ wishes: [String] = [], version: String? = nil, as role: String? = nil) async throws -> Answer {
            var found = version
            if found == nil {
                found = try await preview("{\(wishes.filter { !$0.contains("atomic") }.joined(separator: ", "))}")
                    .json["version"]?.text
            }
            let all = wishes + [#""expect": {"version": "\#(found ?? "")"}"#]
            return try await site.call(
                .post, "/import/\(collection)/\(id)/start", as: role ?? self.role,
                body: "{\(all.joined(separator: ", "))}")
        }

        func job() async throws -> Answer { try await site.call(.get, "/jobs/\(id)", as: role) }

        func rows(_ outcome: String) async throws -> [JSON] {
            try await site.call(.get, "/jobs/\(id)/rows?outcome=\(outcome)", as: role).json["rows"]?.list ?? []
        }

        /// Starts it, and does it to its end.
        func finish(_ wishes: [String] = []) async throws -> Answer {
            let started = try await start(wishes)
            #expect(started.status == 202, "\(started.text)")
            try await site.work()
            return try await job()
        }
    }

    static func upload(
        _ site: Site, _ text: String, type: String = "text/csv", to collection: String = "tickets",
        as role: String = "owner", query: String = ""
    ) async throws -> File {
        try await upload(site, bytes: Array(text.utf8), type: type, to: collection, as: role, query: query)
    }

    static func upload(
        _ site: Site, bytes: [UInt8], type: String = "text/csv", to collection: String, as role: String = "owner",
        query: String = ""
    ) async throws -> File {
        let answer = try await site.call(.post, "/import/\(collection)\(query)", as: role, bytes: bytes, type: type)
        return File(site: site, collection: collection, role: role, answer: answer)
    }

    private static let upsert = #""mode": "upsert""#

    @Test("a preview names the columns that aren't imported, and why those with titles aren't")
    func ignored() async throws {
        try await BulkTests.run { site in
            let text = "id,price,event.title,Extra\n\(site.fixture.tickets[0]),5,Another event,x\n"
            let file = try await Self.upload(site, text)
            let preview = try await file.preview("{\(Self.upsert)}")
            #expect(
                preview.json["ignored"] == [
                    ["column": "event.title", "reason": "Titles are for reading: change 'event' instead."],
                    ["column": "Extra", "reason": "Nothing is chosen for it."],
                ], "\(preview.text)")
        }
    }

    private static func table(_ site: Site, _ rows: [String]) -> String {
        "id,Name,kind,rank,currency,price,event\r\n" + rows.map { "\($0),\(site.fixture.event)\r\n" }.joined()
    }

    @Test("rows make resources and change those that are there, after a preview, and an undo takes both back")
    func creating() async throws {
        try await BulkTests.run { site in
            let ticket = site.fixture.tickets[0]
            let file = try await Self.upload(
                site,
                Self.table(
                    site,
                    [
                        ",First,free,x1,EUR,0", "\(ticket),Very early,paid,a0,EUR,900",
                        ",\"'=Guarded, \"\"x\"\"\",free,x2,EUR,1",
                    ]), query: "?name=tickets.csv")
            #expect(file.answer.status == 201, "\(file.answer.text)")
            #expect(file.answer.json["suggestions"]?["Name"] == "name")
            #expect(file.answer.json["rows"]?.list.count == 3 && file.answer.json["job"]?["total"] == 3)
            #expect(file.answer.json["rows"]?.list.first?["row"] == 2, "the line of the file")
            #expect(file.answer.json["job"]?["state"] == "draft")
            #expect(file.answer.json["job"]?["arguments"]?["file"] == "tickets.csv")

            let preview = try await file.preview("{\(Self.upsert)}")
            #expect(preview.status == 200, "\(preview.text)")
            #expect(preview.json["creates"] == 2 && preview.json["updates"] == 1 && preview.json["refused"] == 0)
            #expect(preview.json["tried"] == 3 && preview.json["problems"] == [], "\(preview.text)")
            let shown = preview.json["rows"]?.list ?? []
            #expect(shown.map { $0["action"]?.text } == ["create", "update", "create"])
            #expect(shown.last?["after"]?["attributes"]?["name"] == "=Guarded, \"x\"")
            #expect(shown[1]["before"]?["attributes"] == ["name": "Early", "price": 1_050], "what it changes alone")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name = 'First'") == 0)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Early'") == 1_050)

            let over = try await file.finish([Self.upsert])
            #expect(over.json["state"] == "done" && over.json["done"] == 3, "\(over.text)")
            #expect(over.json["atomicity"] == "batches")
            #expect(try await file.start([Self.upsert]).status == 409, "it was started")
            #expect(try await file.preview().status == 409)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name IN ('First', '=Guarded, \"x\"')") == 2)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Very early'") == 900)
            let made = try await file.rows("done").compactMap { $0["id"]?.text }
            #expect(made.first == shown.first?["id"]?.text, "the id that the preview showed")
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)

            try await site.fixture.pool.execute("UPDATE ticket SET quantity = 5 WHERE name = 'First'")
            let undo = try await site.call(.post, "/jobs/\(file.id)/undo", as: "owner")
            #expect(undo.status == 202, "\(undo.text)")
            try await site.work()
            let undone = try await site.job(undo, as: "owner")
            #expect(undone.json["done"] == 2 && undone.json["leftAlone"] == 1, "\(undone.text)")
            #expect(
                try await site.count("SELECT count(*) FROM ticket WHERE name = 'First' AND trashed_at IS NULL") == 1,
                "somebody has changed it since, though not what the file says")
            #expect(
                try await site.count("SELECT count(*) FROM ticket WHERE name LIKE '=%' AND trashed_at IS NULL") == 0)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Early'") == 1_050)
        }
    }

    @Test("every mistake is named with its line, column and member, and the other rows are imported all the same")
    func mistakes() async throws {
        try await BulkTests.run { site in
            let event = site.fixture.event
            let text =
                "title,Starts at,state,event,speakers,nonsense\nGood,2026-12-31T09:00:00Z,pending,\(event),[],x\n"
                + "Bad,31.13.2026,pending,\(event),,\nWorse,,pending,nowhere,a,\n"
                + "\"Two\nlines\",,pending,\(ObjectId.generate()),,\nLost,,pending,\(event),\"[\"\"\(event)\"\"]\",\n"
            let mapping =
                #""mapping": {"title": "title", "Starts at": "startsAt", "state": "state", "event": "event", "speakers": "speakers"}"#
            let file = try await Self.upload(site, text, to: "sessions")
            #expect(file.answer.json["suggestions"]?["Starts at"] == "startsAt", "\(file.answer.text)")
            #expect(file.answer.json["suggestions"]?["nonsense"] == .null)
            let preview = try await file.preview("{\(mapping)}")
            #expect(preview.json["creates"] == 1 && preview.json["refused"] == 4, "\(preview.text)")
            let problems = preview.json["problems"]?.list ?? []
            #expect(problems.map { $0["row"]?.number } == [3, 4, 4, 5, 7], "\(preview.text)")
            #expect(problems.map { $0["member"]?.text } == ["startsAt", "event", "speakers", nil, "speakers"])
            #expect(problems.first?["column"] == "Starts at")
            #expect(
                problems.prefix(2).map { $0["message"]?.text }
                    == [
                        "'31.13.2026' isn't a date and time.",
                        "'nowhere' is neither the id nor the title of one of the events.",
                    ])
            #expect(problems.first?["remedy"]?.text?.contains("a date and time") == false, "without saying it again")
            #expect(problems.allSatisfy { $0["member"] == .null || $0["remedy"]?.text?.isEmpty == false })
            let over = try await file.finish([mapping])
            #expect(over.json["state"] == "done" && over.json["done"] == 1 && over.json["refused"] == 4, "\(over.text)")
            let refused = try await file.rows("refused")
            #expect(refused.map { $0["number"]?.number } == [3, 4, 5, 7])
            #expect(refused.first?["reason"]?.text?.hasPrefix("Column 'Starts at': '31.13.2026'") == true)
            #expect(refused[3]["reason"]?.text?.hasPrefix("Column 'speakers': There is no resource") == true)
            #expect(try await site.count("SELECT count(*) FROM session WHERE title IN ('Good', 'Bad', 'Worse')") == 1)

            let whole = try await Self.upload(site, text, to: "sessions")
            let failed = try await whole.finish([mapping, #""atomic": true"#])
            #expect(failed.json["state"] == "failed" && failed.json["refused"] == 4, "\(failed.text)")
            #expect(failed.json["atomicity"] == "all or nothing")
            #expect(try await site.count("SELECT count(*) FROM session WHERE title = 'Good'") == 1)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)
        }
    }

    @Test("files are imported as Excel saves them, and a workbook is told from them")
    func encodings() async throws {
        try await BulkTests.run { site in
            for bytes in [[0x50, 0x4B, 0x03, 0x04, 0x14, 0x00], [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1]] as [[UInt8]] {
                let answer = try await Self.upload(site, bytes: bytes, to: "sessions").answer
                #expect(answer.status == 422, "\(answer.text)")
                #expect(answer.json["message"]?.text?.hasPrefix("This is an Excel workbook") == true, "\(answer.text)")
                #expect(answer.json["hint"] == "Save it as 'CSV UTF-8' in Excel, and import that.")
            }
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            let note = "The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts."
            let event = site.fixture.event
            func table(_ title: String, _ separator: String) -> String {
                ["title", "state", "event"].joined(separator: separator) + "\r\n"
                    + [title, "pending", "\(event)"].joined(separator: separator) + "\r\n"
            }
            for (bytes, encoding, title) in [
                (table("Frühstück 1", ";").unicodeScalars.map { UInt8($0.value) }, "windows-1252", "Frühstück 1"),
                (
                    ImportTextDecoderTests.utf16(Array(table("Frühstück 2 🍳", "\t").utf16), isBigEndian: false),
                    "utf-16", "Frühstück 2 🍳"
                ),
                (
                    ImportTextDecoderTests.utf16(Array(table("Frühstück 3 🍳", "\t").utf16), isBigEndian: true),
                    "utf-16", "Frühstück 3 🍳"
                ),
                (Array(table("Frühstück 4", ",").utf8), "utf-8", "Frühstück 4"),
            ] as [([UInt8], String, String)] {
                let file = try await Self.upload(site, bytes: bytes, to: "sessions")
                let notes: JSON = encoding == "windows-1252" ? [.string(note)] : []
                #expect(file.answer.status == 201 && file.answer.json["notes"] == notes, "\(file.answer.text)")
                #expect(file.answer.json["job"]?["arguments"]?["encoding"] == .string(encoding))
                let preview = try await file.preview()
                #expect(preview.json["notes"] == notes && preview.json["creates"] == 1, "\(preview.text)")
                #expect(try await file.finish().json["done"] == 1)
                let found = try await site.fixture.pool.query(
                    "SELECT count(*)::int FROM session WHERE title = $1", [.text(title)])
                #expect(try found[0, 0].int == 1, "\(title)")
            }
        }
    }

    @Test("what a new resource must have is told with everything else, and what no column leads to once")
    func missing() async throws {
        try await BulkTests.run { site in
            let event = site.fixture.event
            let text = "title,startsAt,event\n\"\",2027-06-31,\(event)\n,2026-12-31T09:00:00Z,\(event)\n,,\(event)\n"
            let file = try await Self.upload(site, text, to: "sessions")
            for mode in ["create", "upsert"] {
                let preview = try await file.preview(#"{"mode": "\#(mode)"}"#)
                #expect(preview.json["refused"] == 3 && preview.json["creates"] == 0, "\(preview.text)")
                let problems = preview.json["problems"]?.list ?? []
                #expect(problems.map { $0["row"]?.number } == [nil, 2, 3, 4], "\(preview.text)")
                #expect(problems.map { $0["column"]?.text } == [nil, "startsAt", "title", "title"])
                #expect(problems.map { $0["member"]?.text } == ["state", "startsAt", "title", "title"])
                #expect(
                    problems.map { $0["message"]?.text } == [
                        "'state' is required, and no column becomes it.",
                        "The day 2027-06-31 doesn't exist: that month has 30 days.", "'title' is required.",
                        "'title' is required.",
                    ])
            }
            #expect(try await file.start().status == 409, "every row is refused")

            // Quoted, empty text is text: an export writes it so.
            let whole = try await Self.upload(
                site, "title,state,event\n\"\",pending,\(event)\n,pending,\(event)\n", to: "sessions")
            let over = try await whole.finish()
            #expect(over.json["done"] == 1 && over.json["refused"] == 1, "\(over.text)")
            #expect(
                try await whole.rows("refused").first?["reason"]
                    == "Column 'title': 'title' is required. Write a value into the cell.")
            #expect(try await site.count("SELECT count(*) FROM session WHERE title = ''") == 1)

            // Of one that is there, such a cell says nothing.
            let change = try await Self.upload(
                site, "id,title,subtitle\n\(site.fixture.sessions[2]),,Changed\n", to: "sessions")
            #expect(try await change.finish([#""mode": "update""#]).json["done"] == 1)
            #expect(
                try await site.count(
                    "SELECT count(*) FROM session WHERE title = 'Talk 3' AND subtitle = 'Changed'") == 1)
        }
    }

    @Test("a link is found by the title of what it leads to, if the person sees exactly one of these")
    func titles() async throws {
        try await BulkTests.run { site in
            for (name, event) in [
                ("Twin", site.fixture.event), ("Twin", site.fixture.event), ("Annex", site.fixture.draft),
                ("'=Hall", site.fixture.event),
            ] {
                try await site.fixture.rows().insert(
                    "Microlocation", ["event": .objectId(event), "name": .string(name)])
            }
            let text =
                "title,state,event,room\nOne,pending,Island Days,Main Hall\n"
                + "Two,pending,\(site.fixture.event),\(site.fixture.room)\nThree,pending,Island Days,Twin\n"
                + "Four,pending,Island Days,main hall\nFive,pending,Secret Days,\nSix,pending,Island Days,Annex\n"
                + "Seven,pending,Island Days,''=Hall\nEight,pending,Island Days,Main Hall\n"
            let file = try await Self.upload(site, text, to: "sessions")
            let preview = try await file.preview()
            #expect(preview.json["creates"] == 4 && preview.json["refused"] == 4, "\(preview.text)")
            let problems = preview.json["problems"]?.list ?? []
            #expect(problems.map { $0["row"]?.number } == [4, 5, 6, 7])
            #expect(
                problems.map { $0["message"]?.text } == [
                    "Several of the microlocations are called 'Twin'.",
                    "'main hall' is neither the id nor the title of one of the microlocations.",
                    "'Secret Days' is neither the id nor the title of one of the events.",
                    "'Annex' is neither the id nor the title of one of the microlocations.",
                ])
            #expect(problems.allSatisfy { $0["remedy"]?.text?.isEmpty == false })
            let shown = preview.json["rows"]?.list.first?["after"]?["relationships"]
            #expect(shown?["room"]?["data"]?["id"]?.text == site.fixture.room.stringValue, "\(preview.text)")

            // What a title leads to is what was shown, or nothing starts.
            let version = try #require(preview.json["version"]?.text)
            let other = try await site.fixture.rows().insert(
                "Microlocation", ["event": .objectId(site.fixture.event), "name": "Main Hall"])
            #expect(try await file.start(version: version).status == 409)
            try await site.fixture.pool.query(
                "UPDATE microlocation SET name = 'Old Hall' WHERE _id = $1", [.objectId(site.fixture.room)])
            #expect(try await file.start(version: version).status == 409, "it's another one now")
            try await site.fixture.pool.query(
                "UPDATE microlocation SET name = 'Main Hall' WHERE _id = $1", [.objectId(site.fixture.room)])
            try await site.fixture.pool.query("DELETE FROM microlocation WHERE _id = $1", [.objectId(other)])
            #expect(try await file.start(version: version).status == 202)
            try await site.fixture.pool.query(
                "UPDATE microlocation SET name = 'Renamed Hall' WHERE _id = $1", [.objectId(site.fixture.room)])
            try await site.work()
            #expect(try await file.job().json["done"] == 4)
            let linked = try await site.fixture.pool.query(
                "SELECT count(*)::int FROM session WHERE title IN ('One', 'Two', 'Eight') AND room = $1 AND event = $2",
                [.objectId(site.fixture.room), .objectId(site.fixture.event)])
            #expect(try linked[0, 0].int == 3)
        }
    }

    @Test("a day that its month doesn't have is told from what is no date")
    func dates() async throws {
        try await BulkTests.run { site in
            let schema = site.fixture.rules.schema
            let document = "Session: [{name: a, applyWhen: {}, read: true, write: true}]"
            let rules = try Rules(schema: schema, book: RuleBook(parsing: document, file: "a.yaml"))
            let types = ResourceTypes(schema)
            let view = CallerView(subject: Subject(user: .generate()), rules: rules, types: types)
            let mapping = try ImportMapping(
                ["format": "csv", "columns": ["startsAt"]], of: try #require(types["sessions"]), for: view)
            for (cell, message) in [
                ("2027-06-31", "The day 2027-06-31 doesn't exist: that month has 30 days."),
                ("2027-02-29T09:00:00Z", "The day 2027-02-29 doesn't exist: that month has 28 days."),
                ("2028-02-30 09:00:00Z", "The day 2028-02-30 doesn't exist: that month has 29 days."),
                ("2027-01-00", "The day 2027-01-00 doesn't exist: that month has 31 days."),
                ("2027-13-01", "'2027-13-01' isn't a date and time."),
                ("2027-06-3", "'2027-06-3' isn't a date and time."),
                ("2027-06-31T25:00:00Z", "'2027-06-31T25:00:00Z' isn't a date and time."),
            ] {
                let problems = mapping.read(.cells([cell])).problems
                #expect(problems.map(\.message) == [message])
                #expect(problems.first?.hint?.isEmpty == false)
            }
        }
    }

    @Test("an import starts only as it was previewed: other choices, and other data, are refused")
    func versions() async throws {
        try await BulkTests.run { site in
            let id = ObjectId.generate()
            let file = try await Self.upload(
                site, Self.table(site, ["\(id),Mine,free,x1,EUR,0", ",Other,free,x2,EUR,0"]))
            let bare = try await site.call(.post, "/import/tickets/\(file.id)/start", as: "owner", body: "{}")
            #expect(bare.status == 428, "\(bare.text)")
            let preview = try await file.preview("{\(Self.upsert)}")
            #expect(preview.json["creates"] == 2, "\(preview.text)")
            let version = try #require(preview.json["version"]?.text)
            #expect(try await file.preview("{\(Self.upsert)}").json["version"]?.text == version, "it's always the same")
            #expect(try await file.start([#""mode": "create""#], version: version).status == 409)
            #expect(
                try await file.start([Self.upsert, #""mapping": {"Name": "name"}"#], version: version).status == 409)
            #expect(try await file.start([Self.upsert], version: "nonsense").status == 409)
            try await site.fixture.rows().insert(
                "Ticket",
                [
                    "event": .objectId(site.fixture.event), "name": "Theirs", "rank": "y", "kind": "free",
                    "currency": "EUR",
                ], id: id)
            let changed = try await file.start([Self.upsert], version: version)
            #expect(changed.status == 409 && changed.json["details"]?["updates"] == 1, "\(changed.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name IN ('Mine', 'Other')") == 0)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE plan IS NOT NULL") == 0)

            // What comes between the start and its turn is refused, and isn't overwritten.
            let started = try await file.start([Self.upsert])
            #expect(started.status == 202, "\(started.text)")
            try await site.fixture.pool.query("DELETE FROM ticket WHERE _id = $1", [.objectId(id)])
            try await site.work()
            let over = try await file.job()
            #expect(over.json["done"] == 1 && over.json["refused"] == 1, "\(over.text)")
        }
    }

    @Test(
        "who may not write makes nothing, nobody learns of what they can't see, and nobody gets at another one's file")
    func rights() async throws {
        try await BulkTests.run { site in
            let text = Self.table(site, [",Mine,free,x1,EUR,0"])
            #expect(try await site.call(.post, "/import/tickets", body: text, type: "text/csv").status == 401)
            #expect(try await Self.upload(site, text, as: "attendee").answer.status == 403)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            let foreign = try await Self.upload(site, text, as: "stranger")
            #expect(foreign.answer.status == 201, "\(foreign.answer.text)")
            let preview = try await foreign.preview()
            #expect(preview.json["refused"] == 1 && preview.json["creates"] == 0, "\(preview.text)")
            #expect(try await foreign.start().status == 409, "every row is refused")

            // A hidden ticket of another event looks like one that isn't there, and isn't changed.
            let hidden = try await Self.upload(
                site, "id,price\n\(site.fixture.tickets[2]),1\n", as: "stranger")
            let guess = try await hidden.preview(#"{"mode": "update"}"#)
            #expect(guess.json["refused"] == 1, "\(guess.text)")
            #expect(
                guess.json["problems"]?.list.first?["message"]
                    == "There is no resource of type 'tickets' with this id.")

            let own = try await Self.upload(site, text)
            for role in ["superAdmin", "stranger"] {
                #expect(try await own.preview(as: role).status == 404)
                #expect(try await own.start(as: role).status == 404)
            }
            #expect(
                try await site.call(.post, "/import/sessions/\(own.id)/preview", as: "owner", body: "{}").status == 404,
                "it's an import of another class")
            let organized = try await Self.upload(site, text, as: "organizer")
            let started = try await organized.start()
            #expect(started.status == 202, "\(started.text)")
            try await site.fixture.pool.query(
                "DELETE FROM role_assignment WHERE \"user\" = $1",
                [.objectId(try #require(site.fixture.users["organizer"]))])
            site.fixture.forgetRoles()
            try await site.work()
            let stopped = try await organized.job()
            #expect(stopped.json["state"] == "failed", "\(stopped.text)")
            #expect(stopped.json["message"]?.text?.hasPrefix("You may not do this any more: ") == true)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name = 'Mine'") == 0)
        }
    }

    @Test("the mode decides what is made and what is changed, and an id counts once in a file")
    func modes() async throws {
        try await BulkTests.run { site in
            let rows = ["\(site.fixture.tickets[1]),Regular,paid,a1,EUR,1", ",New,free,x9,EUR,2"]
            for (mode, creates, updates) in [("create", 1, 0), ("update", 0, 1), ("upsert", 1, 1)] {
                let file = try await Self.upload(site, Self.table(site, rows))
                let preview = try await file.preview(#"{"mode": "\#(mode)"}"#)
                #expect(preview.json["creates"]?.number == Int64(creates), "\(mode): \(preview.text)")
                #expect(preview.json["updates"]?.number == Int64(updates), "\(mode): \(preview.text)")
                #expect(try await site.call(.post, "/jobs/\(file.id)/cancel", as: "owner").status == 200)
            }
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)
            let twice = try await Self.upload(
                site, Self.table(site, [rows[0], rows[0].replacing(",1", with: ",7")]))
            let preview = try await twice.preview("{\(Self.upsert)}")
            #expect(preview.json["updates"] == 1 && preview.json["refused"] == 1, "\(preview.text)")
            #expect(preview.json["problems"]?.list.first?["message"] == "Line 2 has the same id.")
            for wishes in [
                "", "[]", #"{"mapping": {}}"#, #"{"mapping": {"Name": "nothing"}}"#, #"{"mapping": {"x": "name"}}"#,
                #"{"mapping": {"Name": "name", "kind": "name"}}"#, #"{"mapping": {"Name": 1}}"#, #"{"mode": "merge"}"#,
                #"{"extra": 1}"#, #"{"mapping": {"id": "id"}}"#, #"{"formulas": 1}"#,
                #"{"mode": "update", "mapping": {"Name": "name"}}"#, #"{"mapping": {"Name": "name.first"}}"#,
            ] {
                #expect(try await twice.preview(wishes).status == 400, "\(wishes)")
            }
        }
    }

    @Test("files that can't be read leave nothing behind, whatever is wrong with them")
    func hostileFiles() async throws {
        try await BulkTests.run { site in
            for (text, type, status) in [
                ("", "text/csv", 422), ("name\n", "text/csv", 422), ("name,name\na,b\n", "text/csv", 422),
                ("a,b\n1\n", "text/csv", 422), ("name\n\"x", "text/csv", 422), ("name\n\u{0}", "text/csv", 422),
                (",b\n1,2\n", "text/csv", 422), ("[{\"name\":", "application/json", 422),
                ("[]", "application/json", 422), ("[1]", "application/json", 422), ("a\n1\n", "text/plain", 415),
                (String(repeating: "[", count: 50_000), "application/json", 422),
                ("name\n" + String(repeating: "x,", count: 40_000), "text/csv", 422),
            ] {
                let answer = try await Self.upload(site, text, type: type).answer
                #expect(answer.status == status, "\(text.prefix(40)): \(answer.text)")
                #expect(answer.json["hint"]?.text?.isEmpty == false)
            }
            #expect(try await Self.upload(site, "a\n1\n", query: "?delimiter=x").answer.status == 400)
            #expect(try await Self.upload(site, "a\n1\n", query: "?other=x").answer.status == 400)
            let long = "name\n" + String(repeating: "\"\(String(repeating: "x", count: 1_000))\"\n", count: 34_000)
            let tooLong = try await Self.upload(site, long).answer
            #expect(tooLong.status == 413, "\(tooLong.text)")
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row") == 0)
            // Other routes take no more than before.
            let other = try await site.call(
                .post, "/bulk/tickets", as: "owner", body: String(repeating: " ", count: 100_000))
            #expect(other.status == 413, "\(other.text)")
            for number in 0...ImportLimits.draftCount {
                let answer = try await Self.upload(site, "name;price\n1;2\n", query: "?delimiter=semicolon").answer
                #expect(answer.status == (number < ImportLimits.draftCount ? 201 : 429), "\(answer.text)")
            }
            try await site.fixture.pool.execute(
                "UPDATE tombolo.job SET created_at = now() - interval '2 days' WHERE id = (SELECT min(id) FROM tombolo.job)"
            )
            #expect(try await Self.upload(site, "name\n1\n").answer.status == 201, "what was left behind is forgotten")
        }
    }
}
