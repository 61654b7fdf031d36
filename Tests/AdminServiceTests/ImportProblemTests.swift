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

@Suite("Every problem in a file is reported with its place, and the remaining rows can still be imported")
struct ImportProblemTests {
    @Test("every mistake is reported with its line, column and member, and the other rows are still imported")
    func mistakes() async throws {
        try await BulkTests.run { site in
            let event = site.fixture.event
            let text =
                "title,Starts at,state,event,speakers,nonsense\nGood,2026-12-31T09:00:00Z,pending,\(event),[],x\n"
                + "Bad,31.13.2026,pending,\(event),,\nWorse,,pending,nowhere,a,\n"
                + "\"Two\nlines\",,pending,\(ObjectId.generate()),,\nLost,,pending,\(event),\"[\"\"\(event)\"\"]\",\n"
            let mapping =
                #""mapping": {"title": "title", "Starts at": "startsAt", "state": "state", "event": "event", "speakers": "speakers"}"#
            let file = try await UploadedFile.upload(site, text, to: "sessions")
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
            #expect(problems.first?["remedy"]?.text?.contains("a date and time") == false, "without repeating it")
            #expect(problems.allSatisfy { $0["member"] == .null || $0["remedy"]?.text?.isEmpty == false })
            let over = try await file.finish([mapping])
            #expect(over.json["state"] == "done" && over.json["done"] == 1 && over.json["refused"] == 4, "\(over.text)")
            let refused = try await file.rows("refused")
            #expect(refused.map { $0["number"]?.number } == [3, 4, 5, 7])
            #expect(refused.first?["reason"]?.text?.hasPrefix("Column 'Starts at': '31.13.2026'") == true)
            #expect(refused[3]["reason"]?.text?.hasPrefix("Column 'speakers': There is no resource") == true)
            #expect(try await site.count("SELECT count(*) FROM session WHERE title IN ('Good', 'Bad', 'Worse')") == 1)

            let whole = try await UploadedFile.upload(site, text, to: "sessions")
            let failed = try await whole.finish([mapping, #""atomic": true"#])
            #expect(failed.json["state"] == "failed" && failed.json["refused"] == 4, "\(failed.text)")
            #expect(failed.json["atomicity"] == "all or nothing")
            #expect(try await site.count("SELECT count(*) FROM session WHERE title = 'Good'") == 1)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)
        }
    }

    @Test("missing required values are reported along with other problems, and a missing column only once")
    func missing() async throws {
        try await BulkTests.run { site in
            let event = site.fixture.event
            let text = "title,startsAt,event\n\"\",2027-06-31,\(event)\n,2026-12-31T09:00:00Z,\(event)\n,,\(event)\n"
            let file = try await UploadedFile.upload(site, text, to: "sessions")
            for mode in ["create", "upsert"] {
                let preview = try await file.preview(#"{"mode": "\#(mode)"}"#)
                #expect(preview.json["refused"] == 3 && preview.json["creates"] == 0, "\(preview.text)")
                let problems = preview.json["problems"]?.list ?? []
                #expect(problems.map { $0["row"]?.number } == [nil, 2, 3, 4], "\(preview.text)")
                #expect(problems.map { $0["column"]?.text } == [nil, "startsAt", "title", "title"])
                #expect(problems.map { $0["member"]?.text } == ["state", "startsAt", "title", "title"])
                #expect(
                    problems.map { $0["message"]?.text } == [
                        "'state' is required, but no column maps to it.",
                        "The day 2027-06-31 doesn't exist: that month has 30 days.", "'title' is required.",
                        "'title' is required.",
                    ])
            }
            #expect(try await file.start().status == 409, "every row is refused")

            // Quoted empty text is text, and exports write it that way.
            let whole = try await UploadedFile.upload(
                site, "title,state,event\n\"\",pending,\(event)\n,pending,\(event)\n", to: "sessions")
            let over = try await whole.finish()
            #expect(over.json["done"] == 1 && over.json["refused"] == 1, "\(over.text)")
            #expect(
                try await whole.rows("refused").first?["reason"]
                    == "Column 'title': 'title' is required. Write a value into the cell.")
            #expect(try await site.count("SELECT count(*) FROM session WHERE title = ''") == 1)

            // For an existing object, an empty cell means no change.
            let change = try await UploadedFile.upload(
                site, "id,title,subtitle\n\(site.fixture.sessions[2]),,Changed\n", to: "sessions")
            #expect(try await change.finish([#""mode": "update""#]).json["done"] == 1)
            #expect(
                try await site.count(
                    "SELECT count(*) FROM session WHERE title = 'Talk 3' AND subtitle = 'Changed'") == 1)
        }
    }

    @Test("a link can be given as its target's title, if the user sees exactly one object with that title")
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
            let file = try await UploadedFile.upload(site, text, to: "sessions")
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

            // If a title no longer leads to the target that the preview showed, the import doesn't start.
            let version = try #require(preview.json["version"]?.text)
            let other = try await site.fixture.rows().insert(
                "Microlocation", ["event": .objectId(site.fixture.event), "name": "Main Hall"])
            #expect(try await file.start(version: version).status == 409)
            try await site.fixture.pool.query(
                "UPDATE microlocation SET name = 'Old Hall' WHERE _id = $1", [.objectId(site.fixture.room)])
            #expect(try await file.start(version: version).status == 409, "the title now leads to another one")
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

    @Test("a row with a NUL character is refused, even though its reason can't quote it, and the others are imported")
    func nulCharacters() async throws {
        try await BulkTests.run { site in
            let event = site.fixture.event
            let rows = [
                #"{"title": "Good", "state": "pending", "event": "\#(event)"}"#,
                #"{"title": "Bad link", "state": "pending", "event": "\u0000"}"#,
                #"{"title": "Bad list", "state": "pending", "event": "\#(event)", "speakers": ["\u0000"]}"#,
                #"{"id": "\u0000", "title": "Bad id", "state": "pending", "event": "\#(event)"}"#,
                #"{"title": "\u0000", "state": "pending", "event": "\#(event)"}"#,
            ]
            let file = try await UploadedFile.upload(
                site, rows.joined(separator: "\n"), type: "application/x-ndjson", to: "sessions")
            let over = try await file.finish()
            #expect(over.json["done"] == 1 && over.json["refused"] == 4, "\(over.text)")
            let reasons = try await file.rows("refused").compactMap { $0["reason"]?.text }
            #expect(
                reasons.first?.hasPrefix("Column 'event': '\u{FFFD}' isn't the id of one of the events.") == true,
                "\(reasons)")
            #expect(reasons.count == 4 && reasons.allSatisfy { !$0.utf8.contains(0) })
        }
    }

    @Test("titles spelled with different code points are different titles, even within one file")
    func spelledTitles() async throws {
        try await BulkTests.run { site in
            var rooms: [ObjectId] = []
            let names = ["Caf\u{E9}", "Cafe\u{301}"]
            for name in names {
                rooms.append(
                    try await site.fixture.rows().insert(
                        "Microlocation", ["event": .objectId(site.fixture.event), "name": .string(name)]))
            }
            let rows = names.enumerated().map { "Spelled \($0),pending,\(site.fixture.event),\($1)\n" }
            let file = try await UploadedFile.upload(
                site, "title,state,event,room\n" + rows.joined(), to: "sessions")
            let over = try await file.finish()
            #expect(over.json["done"] == 2, "\(over.text)")
            let linked = try await site.fixture.pool.query(
                "SELECT room FROM session WHERE title LIKE 'Spelled _' ORDER BY title")
            #expect(try linked.map { try $0[0].objectId } == rooms)
        }
    }

    @Test("a day that doesn't exist in its month is told apart from text that isn't a date")
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

    @Test("unreadable files leave nothing behind, whatever is wrong with them")
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
                let answer = try await UploadedFile.upload(site, text, type: type).answer
                #expect(answer.status == status, "\(text.prefix(40)): \(answer.text)")
                #expect(answer.json["hint"]?.text?.isEmpty == false)
            }
            #expect(try await UploadedFile.upload(site, "a\n1\n", query: "?delimiter=x").answer.status == 400)
            #expect(try await UploadedFile.upload(site, "a\n1\n", query: "?other=x").answer.status == 400)
            let long = "name\n" + String(repeating: "\"\(String(repeating: "x", count: 1_000))\"\n", count: 34_000)
            let tooLong = try await UploadedFile.upload(site, long).answer
            #expect(tooLong.status == 413, "\(tooLong.text)")
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row") == 0)
            // The body limit of other routes is unchanged.
            let other = try await site.call(
                .post, "/bulk/tickets", as: "owner", body: String(repeating: " ", count: 100_000))
            #expect(other.status == 413, "\(other.text)")
            for number in 0...ImportLimits.draftCount {
                let answer = try await UploadedFile.upload(site, "name;price\n1;2\n", query: "?delimiter=semicolon")
                    .answer
                #expect(answer.status == (number < ImportLimits.draftCount ? 201 : 429), "\(answer.text)")
            }
            try await site.fixture.pool.execute(
                "UPDATE tombolo.job SET created_at = now() - interval '2 days' WHERE id = (SELECT min(id) FROM tombolo.job)"
            )
            #expect(
                try await UploadedFile.upload(site, "name\n1\n").answer.status == 201,
                "the abandoned draft is deleted")
        }
    }
}
