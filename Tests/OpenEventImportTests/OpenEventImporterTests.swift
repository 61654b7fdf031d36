import EventModels
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import OpenEventImport

@Suite struct OpenEventImporterTests {
    private func withDatabase(_ body: (PostgresConnection) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        for step in PostgresSchema.statements(for: EventModels.schema) { try await connection.execute(step.sql) }
        try await body(connection)
        await connection.close()
    }

    private func count(_ table: String, _ connection: PostgresConnection) async throws -> Int {
        try await connection.query("SELECT count(*) FROM \(table)")[0, 0].int
    }

    @Test func theSamplesFilesAreImportedCompletely() async throws { try await compare(Exports.sample) }

    @Test(
        .enabled(if: Exports.haveShared, "needs ../shared/data/open-event"), arguments: ["OSCON17", "Droidcon17"])
    func aConferencesFilesAreImportedCompletely(_ name: String) async throws {
        try await compare(Exports.shared(name))
    }

    private func compare(_ path: String) async throws {
        try await withDatabase { connection in
            let export = try OpenEventImporter.read(path)
            let summary = try await OpenEventImporter.write(export, to: connection)
            for (className, file) in [
                ("Session", "sessions"), ("Speaker", "speakers"), ("Track", "tracks"),
                ("Microlocation", "microlocations"), ("Sponsor", "sponsors"),
            ] {
                let data = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(file).json"))
                let records = try #require(try JSONSerialization.jsonObject(with: data) as? [Any])
                let table = try #require(EventModels.schema[className]).table
                #expect(try await count("\"\(table)\"", connection) == records.count, "\(className)")
                #expect(summary[className]?.records == records.count)
                #expect(summary[className]?.inserted == records.count)
            }
            #expect(try await count("event", connection) == 1)
            let orphans = try await connection.query(
                """
                SELECT count(*) FROM session s JOIN event e ON e._id = s.event
                LEFT JOIN session_speakers x ON x.owner = s._id LEFT JOIN speaker p ON p._id = x.target
                WHERE p.event <> e._id
                """)
            #expect(try orphans[0, 0].int == 0)
        }
    }

    @Test func importingTwiceChangesNothing() async throws {
        try await withDatabase { connection in
            let export = try OpenEventImporter.read(Exports.sample)
            _ = try await OpenEventImporter.write(export, to: connection)
            let before = try await connection.query("SELECT count(*), max(seq) FROM tombolo.changelog")
            let again = try await OpenEventImporter.write(export, to: connection)
            let after = try await connection.query("SELECT count(*), max(seq) FROM tombolo.changelog")
            #expect(try before[0, 0].int == after[0, 0].int && before[0, 1].int == after[0, 1].int)
            for line in again.lines {
                #expect(line.inserted == 0 && line.updated == 0 && line.unchanged == line.rows, "\(line.className)")
            }
        }
    }

    @Test func aChangedFileChangesNothingElse() async throws {
        try await withDatabase { connection in
            let export = try OpenEventImporter.read(Exports.sample)
            _ = try await OpenEventImporter.write(export, to: connection)
            try await connection.execute("UPDATE session SET title = 'Edited' WHERE title = 'Opening'")
            let again = try await OpenEventImporter.write(export, to: connection)
            #expect(again["Session"]?.updated == 1 && again["Session"]?.unchanged == 11)
            #expect(try await count("session WHERE title = 'Opening'", connection) == 1)
        }
    }

    @Test("speakers whose list elements in a session were recreated aren't duplicated by another import")
    func elementsWithOtherKeysAreNotDoubled() async throws {
        try await withDatabase { connection in
            let export = try OpenEventImporter.read(Exports.sample)
            _ = try await OpenEventImporter.write(export, to: connection)
            let total = try await count("session_speakers", connection)
            // The panel does this when speakers change places.
            try await connection.execute("UPDATE session_speakers SET _id = substring(sha256(_id) FOR 12)")
            let again = try await OpenEventImporter.write(export, to: connection)
            #expect(again["Session.speakers"]?.unchanged == total)
            #expect(try await count("session_speakers", connection) == total)
        }
    }

    @Test("a link is identified by its id, wherever it is in the file")
    func linksThatMoveInTheFileAreNotDoubled() async throws {
        func export(_ ids: Int...) throws -> OpenEventExport {
            let links = ids.map { #"{"id": \#($0), "name": "N", "link": "https://example.org/\#($0)"}"# }
            let event = Exports.event.replacing(
                #""public"}"#, with: #""public", "social_links": [\#(links.joined(separator: ", "))]}"#)
            return try Exports.withFolder(["event.json": event]) { try OpenEventImporter.read($0) }
        }
        try await withDatabase { connection in
            _ = try await OpenEventImporter.write(export(1, 2, 3), to: connection)
            let moved = try await OpenEventImporter.write(export(2, 3), to: connection)
            #expect(moved["SocialLink"]?.unchanged == 2)
            #expect(try await count("social_link", connection) == 3)
            // Two links with the same id are two objects, even if they move.
            let twice = try await OpenEventImporter.write(export(4, 1, 4), to: connection)
            #expect(twice["SocialLink"]?.inserted == 2 && twice["SocialLink"]?.unchanged == 1)
            let again = try await OpenEventImporter.write(export(1, 4, 4), to: connection)
            #expect(again["SocialLink"]?.unchanged == 3)
            #expect(try await count("social_link", connection) == 5)
        }
    }

    @Test func speakersWithAnAddressBecomeUsersOnce() async throws {
        try await withDatabase { connection in
            try await connection.query(
                "INSERT INTO users (_id, email, display_name) VALUES ($1, 'linnea@example.org', 'Linnéa')",
                [.bytea(ObjectId(high: 1, low: 1).bytes)])
            let export = try OpenEventImporter.read(Exports.sample)
            let summary = try await OpenEventImporter.write(export, to: connection)
            #expect(summary["User"]?.inserted == 4 && summary["User"]?.unchanged == 1)
            #expect(try await count("users", connection) == 5)
            #expect(try await count("speaker WHERE \"user\" IS NOT NULL", connection) == 5)
            let linked = try await connection.query(
                "SELECT p.name FROM speaker p JOIN users u ON u._id = p.\"user\" WHERE u._id = $1",
                [.bytea(ObjectId(high: 1, low: 1).bytes)])
            #expect(try linked[0, 0].string == "Linnéa Strand")
            // Addresses are stored with the contacts, which only organizers see.
            #expect(try await count("speaker_contact WHERE email IS NOT NULL", connection) == 5)
        }
    }

    @Test func anImportThatFailsLeavesNothing() async throws {
        try await withDatabase { connection in
            try await connection.execute("ALTER TABLE session ADD CHECK (title <> 'Lunch')")
            let export = try OpenEventImporter.read(Exports.sample)
            await #expect(throws: PostgresError.self) {
                _ = try await OpenEventImporter.write(export, to: connection)
            }
            #expect(try await count("event", connection) == 0)
            #expect(try await count("users", connection) == 0)
        }
    }

    @Test func allRowsAreWrittenEvenIfOneStatementCannotTakeThem() async throws {
        try await withDatabase { connection in
            let index = try #require(EventModels.schema.index(of: "SocialLink"))
            let total = RowUpsert.maximumRowCount * 2 + 7
            let rows = (0..<total).map { number in
                Row([
                    .objectId(ObjectId(high: 3, low: UInt32(number))), .null, .string("x"), .string("\(number)"),
                    .bool(false), .null,
                ])
            }
            var seen: [Int] = []
            let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .keep)
            let counts = try await upsert.write(rows, connection) { seen.append($0) }
            #expect(counts.inserted == total)
            #expect(seen == [RowUpsert.maximumRowCount, RowUpsert.maximumRowCount * 2, total])
            #expect(try await upsert.write(rows, connection).unchanged == total)
            #expect(try await count("social_link", connection) == total)
        }
    }
}
