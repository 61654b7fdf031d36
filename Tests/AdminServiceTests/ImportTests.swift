@testable import AdminService
import Foundation
import HTTPTypes
import Logging
import PostgresClient
import PostgresValues
import ServiceTestSupport
import TestSupport
import Testing
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite("A file can be inspected, mapped, previewed and imported within its user's rights, and the import can be undone")
struct ImportTests {
    private static let upsert = #""mode": "upsert""#

    @Test("a preview names the columns that won't be imported, and says why those with titles won't be")
    func ignored() async throws {
        try await BulkTests.run { site in
            let text = "id,price,event.title,Extra\n\(site.fixture.tickets[0]),5,Another event,x\n"
            let file = try await UploadedFile.upload(site, text)
            let preview = try await file.preview("{\(Self.upsert)}")
            #expect(
                preview.json["ignored"] == [
                    ["column": "event.title", "reason": "Titles are read-only: change 'event' instead."],
                    ["column": "Extra", "reason": "No member was chosen for it."],
                ], "\(preview.text)")
        }
    }

    private static func table(_ site: BulkTests.Site, _ rows: [String]) -> String {
        "id,Name,kind,rank,currency,price,event\r\n" + rows.map { "\($0),\(site.fixture.event)\r\n" }.joined()
    }

    @Test("rows create resources and change existing ones, after a preview, and an undo reverts both")
    func creating() async throws {
        try await BulkTests.run { site in
            let ticket = site.fixture.tickets[0]
            let file = try await UploadedFile.upload(
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
            #expect(file.answer.json["rows"]?.list.first?["row"] == 2, "the line in the file")
            #expect(file.answer.json["job"]?["state"] == "draft")
            #expect(file.answer.json["job"]?["arguments"]?["file"] == "tickets.csv")

            let preview = try await file.preview("{\(Self.upsert)}")
            #expect(preview.status == 200, "\(preview.text)")
            #expect(preview.json["creates"] == 2 && preview.json["updates"] == 1 && preview.json["refused"] == 0)
            #expect(preview.json["tried"] == 3 && preview.json["problems"] == [], "\(preview.text)")
            let shown = preview.json["rows"]?.list ?? []
            #expect(shown.map { $0["action"]?.text } == ["create", "update", "create"])
            #expect(shown.last?["after"]?["attributes"]?["name"] == "=Guarded, \"x\"")
            #expect(shown[1]["before"]?["attributes"] == ["name": "Early", "price": 1_050], "only what it changes")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name = 'First'") == 0)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Early'") == 1_050)

            let over = try await file.finish([Self.upsert])
            #expect(over.json["state"] == "done" && over.json["done"] == 3, "\(over.text)")
            #expect(over.json["atomicity"] == "batches")
            #expect(try await file.start([Self.upsert]).status == 409, "it was already started")
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
                "somebody has changed another property since")
            #expect(
                try await site.count("SELECT count(*) FROM ticket WHERE name LIKE '=%' AND trashed_at IS NULL") == 0)
            #expect(try await site.count("SELECT price FROM ticket WHERE name = 'Early'") == 1_050)
        }
    }

    @Test("an old file isn't deleted if somebody starts importing it just then")
    func startedLate() async throws {
        try await BulkTests.run { site in
            let file = try await UploadedFile.upload(site, Self.table(site, [",First,free,x1,EUR,0"]))
            try await site.fixture.pool.execute(
                "UPDATE tombolo.job SET created_at = now() - interval '2 days', progress_at = NULL")
            let starting = try await PostgresConnection.connect(site.fixture.pool.configuration)
            try await starting.execute("BEGIN; UPDATE tombolo.job SET state = 'queued'")
            async let forgetting: Void = site.runner.forgetOld()
            try await Self.waitForLock(site)
            try await starting.execute("COMMIT")
            try await forgetting
            await starting.close()
            #expect(try await file.job().json["state"] == "queued")
        }
    }

    /// Waits until a connection waits for a lock.
    private static func waitForLock(_ site: BulkTests.Site) async throws {
        while try await site.count(
            """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """) == 0
        {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test("once one server rolls back an all-or-nothing import, it has ended for all servers")
    func takenBack() async throws {
        try await BulkTests.run { site in
            let (fixture, ticket) = (site.fixture, site.fixture.tickets[0])
            let rows = [",First,free,x1,EUR,0", "\(ticket),Very early,paid,a0,EUR,900"]
            let file = try await UploadedFile.upload(site, Self.table(site, rows))
            let started = try await file.start([Self.upsert, #""atomic": true"#])
            #expect(started.status == 202, "\(started.text)")
            // The first row waits at a gate until the test opens it.
            try await fixture.pool.execute(
                """
                CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
                $$BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END$$;
                CREATE TRIGGER wait BEFORE INSERT ON ticket FOR EACH ROW EXECUTE FUNCTION public.wait()
                """)
            let gate = try await PostgresConnection.connect(fixture.pool.configuration)
            try await gate.execute("BEGIN; SELECT pg_advisory_xact_lock(1)")
            let holder = try await PostgresConnection.connect(fixture.pool.configuration)
            try await holder.execute("BEGIN")
            try await holder.query("SELECT 1 FROM ticket WHERE _id = $1 FOR UPDATE", [.objectId(ticket)])
            let pool = PostgresPool(configuration: fixture.adminServer.pool.configuration, options: .patient(1))
            let runner = JobService(
                rules: LiveRules(fixture.rules), pool: pool, authenticator: fixture.adminServer.authenticator,
                logger: Logger(label: "jobs")
            ).runner
            async let refusing = runner.step()
            try await Self.waitForLock(site)
            // As soon as that server has rolled back, another one takes its turn, and nobody holds the ticket.
            async let turn: Void = pool.withConnection { _ in
                try await holder.execute("ROLLBACK")
                _ = try await site.runner.step()
            }
            while pool.statistics.waiting == 0 { try await Task.sleep(for: .milliseconds(10)) }
            // The second row is refused because it waits too long for the ticket.
            try await gate.execute("COMMIT")
            _ = try await (refusing, turn)
            await holder.close()
            await gate.close()
            await pool.shutdown()
            let job = try await file.job()
            #expect(job.json["state"] == "failed" && job.json["refused"] == 1, "\(job.text)")
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name IN ('First', 'Very early')") == 0)
        }
    }

    @Test("a discarded import keeps nothing of its file")
    func givenUp() async throws {
        try await BulkTests.run { site in
            let file = try await UploadedFile.upload(site, Self.table(site, [",First,free,x1,EUR,0"]))
            let started = try await file.start([Self.upsert])
            #expect(started.status == 202, "\(started.text)")
            try await site.fixture.pool.execute(
                """
                UPDATE tombolo.job SET attempts = \(Job.attemptLimit - 2);
                CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN RAISE serialization_failure; END$$;
                CREATE TRIGGER fail BEFORE INSERT ON ticket FOR EACH ROW EXECUTE FUNCTION public.fail()
                """)
            for (state, sources) in [("queued", 1), ("failed", 0)] {
                await #expect(throws: (any Error).self) { try await site.runner.step() }
                #expect(try await file.job().json["state"] == .string(state))
                #expect(
                    try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == sources)
            }
        }
    }

    @Test("files saved by Excel as CSV or text can be imported, and workbooks are recognized and refused")
    func encodings() async throws {
        try await BulkTests.run { site in
            for bytes in [[0x50, 0x4B, 0x03, 0x04, 0x14, 0x00], [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1]] as [[UInt8]] {
                let answer = try await UploadedFile.upload(site, bytes: bytes, to: "sessions").answer
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
                let file = try await UploadedFile.upload(site, bytes: bytes, to: "sessions")
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

    @Test("an import starts only as previewed: changed options or changed data are refused")
    func versions() async throws {
        try await BulkTests.run { site in
            let id = ObjectId.generate()
            let file = try await UploadedFile.upload(
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

            // A change made between the start and the row's turn isn't overwritten; the row is refused.
            let started = try await file.start([Self.upsert])
            #expect(started.status == 202, "\(started.text)")
            try await site.fixture.pool.query("DELETE FROM ticket WHERE _id = $1", [.objectId(id)])
            try await site.work()
            let over = try await file.job()
            #expect(over.json["done"] == 1 && over.json["refused"] == 1, "\(over.text)")
        }
    }

    @Test(
        "without the right to write, nothing is created; nobody learns of hidden objects or gets at somebody else's file"
    )
    func rights() async throws {
        try await BulkTests.run { site in
            let text = Self.table(site, [",Mine,free,x1,EUR,0"])
            #expect(try await site.call(.post, "/import/tickets", body: text, type: "text/csv").status == 401)
            #expect(try await UploadedFile.upload(site, text, as: "attendee").answer.status == 403)
            #expect(try await site.count("SELECT count(*) FROM tombolo.job") == 0)
            let foreign = try await UploadedFile.upload(site, text, as: "stranger")
            #expect(foreign.answer.status == 201, "\(foreign.answer.text)")
            let preview = try await foreign.preview()
            #expect(preview.json["refused"] == 1 && preview.json["creates"] == 0, "\(preview.text)")
            #expect(try await foreign.start().status == 409, "every row is refused")

            // A hidden ticket of another event looks like one that doesn't exist, and isn't changed.
            let hidden = try await UploadedFile.upload(
                site, "id,price\n\(site.fixture.tickets[2]),1\n", as: "stranger")
            let guess = try await hidden.preview(#"{"mode": "update"}"#)
            #expect(guess.json["refused"] == 1, "\(guess.text)")
            #expect(
                guess.json["problems"]?.list.first?["message"]
                    == "There is no resource of type 'tickets' with this id.")

            let own = try await UploadedFile.upload(site, text)
            for role in ["superAdmin", "stranger"] {
                #expect(try await own.preview(as: role).status == 404)
                #expect(try await own.start(as: role).status == 404)
            }
            #expect(
                try await site.call(.post, "/import/sessions/\(own.id)/preview", as: "owner", body: "{}").status == 404,
                "the import is for another class")
            let organized = try await UploadedFile.upload(site, text, as: "organizer")
            let started = try await organized.start()
            #expect(started.status == 202, "\(started.text)")
            try await site.fixture.pool.query(
                "DELETE FROM role_assignment WHERE \"user\" = $1",
                [.objectId(try #require(site.fixture.users["organizer"]))])
            site.fixture.forgetRoles()
            try await site.work()
            let stopped = try await organized.job()
            #expect(stopped.json["state"] == "failed", "\(stopped.text)")
            #expect(stopped.json["message"]?.text?.hasPrefix("You no longer have permission to do this: ") == true)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE name = 'Mine'") == 0)
        }
    }

    @Test("the mode determines what is created and what is changed, and an id may occur only once in a file")
    func modes() async throws {
        try await BulkTests.run { site in
            let rows = ["\(site.fixture.tickets[1]),Regular,paid,a1,EUR,1", ",New,free,x9,EUR,2"]
            for (mode, creates, updates) in [("create", 1, 0), ("update", 0, 1), ("upsert", 1, 1)] {
                let file = try await UploadedFile.upload(site, Self.table(site, rows))
                let preview = try await file.preview(#"{"mode": "\#(mode)"}"#)
                #expect(preview.json["creates"]?.number == Int64(creates), "\(mode): \(preview.text)")
                #expect(preview.json["updates"]?.number == Int64(updates), "\(mode): \(preview.text)")
                #expect(try await site.call(.post, "/jobs/\(file.id)/cancel", as: "owner").status == 200)
            }
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)
            let twice = try await UploadedFile.upload(
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

    @Test("a preview reads long rows a few at a time, and tries the first of them; the import takes all")
    func longRows() async throws {
        try await BulkTests.run { site in
            let text = String(repeating: "x", count: ImportLimits.chunkByteCount / 3)
            let file = try await UploadedFile.upload(
                site, Self.table(site, (0..<5).map { ",\(text)\($0),free,x\($0),EUR,0" }))
            let owner = try #require(site.fixture.users["owner"])
            let numbers = try await site.fixture.pool.withConnection { connection -> [[Int64]] in
                let job = try await JobStore.job(file.id, of: owner, connection)
                var found: [[Int64]] = []
                for byteCount in [ImportLimits.chunkByteCount, 1, .max] {
                    found.append(
                        try await JobStore.rows(of: job, after: 0, limit: 4, byteCount: byteCount, connection)
                            .map(\.number))
                }
                return found
            }
            #expect(numbers == [[2, 3], [2], [2, 3, 4, 5]])
            let preview = try await file.preview()
            #expect(preview.json["creates"] == 5 && preview.json["tried"] == 2, "\(preview.text.prefix(1_000))")
            #expect(try await file.finish().json["done"] == 5)
        }
    }

    @Test("text that differs only in its code points is a change, and is written, counted and undone")
    func spelling() async throws {
        try await BulkTests.run { site in
            let ticket = site.fixture.tickets[0]
            let byteCount = #"SELECT octet_length(name) FROM ticket WHERE _id = '\x\#(ticket)'"#
            func undo(_ id: Int64) async throws {
                let undo = try await site.call(.post, "/jobs/\(id)/undo", as: "owner")
                #expect(undo.status == 202, "\(undo.text)")
                try await site.work()
                #expect(try await site.job(undo, as: "owner").json["done"] == 1)
                #expect(try await site.count(byteCount) == 5)
            }
            try await site.fixture.rows().set("Ticket", ticket, "name", "Caf\u{E9}")
            let file = try await UploadedFile.upload(site, "id,Name\n\(ticket),Cafe\u{301}\n")
            let over = try await file.finish([#""mode": "update""#])
            #expect(over.json["done"] == 1 && over.json["leftAlone"] == 0, "\(over.text)")
            #expect(try await site.count(byteCount) == 6)
            try await undo(file.id)

            let asked = try await site.call(
                .post, "/bulk/tickets", as: "owner",
                body: #"{"action": "update", "ids": ["\#(ticket)"], "data": {"attributes": {"name": "Cafe\u0301"}}}"#)
            #expect(asked.status == 202, "\(asked.text)")
            try await site.work()
            #expect(try await site.job(asked, as: "owner").json["done"] == 1)
            #expect(try await site.count(byteCount) == 6)
            try await undo(asked.json["id"]?.number ?? 0)
        }
    }

    @Test("rows that arrive after their draft was discarded aren't kept")
    func discardedMeanwhile() async throws {
        try await BulkTests.run { site in
            let file = try await UploadedFile.upload(site, "name\nA\n")
            #expect(try await site.call(.post, "/jobs/\(file.id)/cancel", as: "owner").status == 200)
            let late = ImportFile.Row(number: 3, text: #"["B"]"#)
            let pool = site.fixture.pool
            await #expect(throws: RequestFailure.self) {
                try await pool.transaction { try await JobStore.add([late], keys: [nil], to: file.id, $0) }
            }
            await #expect(throws: RequestFailure.self) {
                try await pool.transaction { try await JobStore.complete(file.id, [:], total: 2, $0) }
            }
            #expect(try await site.count("SELECT count(*) FROM tombolo.job_row WHERE source IS NOT NULL") == 0)
            #expect(try await file.job().json["state"] == "cancelled")
        }
    }
}
