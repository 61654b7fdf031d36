import EventModels
import Foundation
import PostgresClient
import ChildPrograms
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import OpenEventImport

/// What happens to an export in which some records break a rule.
@Suite struct SetAsideTests {
    /// Three sessions, the second of which ends before it begins; three entries among the first session's speakers, the second of
    /// which names nobody; a speaker without id and name; and a room off the map.
    static let files = [
        "event.json": Exports.event,
        "sessions.json": """
        [{"id": 1, "title": "One", "starts-at": "2030-01-01T10:00Z", "ends-at": "2030-01-01T11:00Z",
          "speakers": [{"id": 5, "name": "Ann"}, {"id": null, "name": null}, {"id": 6, "name": "Bo"}],
          "microlocation": {"id": 3, "name": "Nowhere"}, "track": {"id": 8, "name": "Gone"}},
         {"id": 2, "title": "Two", "starts-at": "2030-01-01T12:00Z", "ends-at": "2030-01-01T11:00Z",
          "speakers": [{"id": 5, "name": "Ann"}]},
         {"id": 3, "title": "Three", "speakers": [{"id": 7, "name": ""}], "session-type": {"id": null}}]
        """,
        "speakers.json": """
        [{"id": 5, "name": "Ann", "email": "ann@example.org", "sessions": [{"id": 2, "title": "Two"}, {"id": null}]},
         {"id": null, "name": null}, {"id": 6, "name": "Bo"}, {"id": 7, "name": "Cy", "is-featured": "perhaps"}]
        """,
        "microlocations.json": #"[{"id": 3, "name": "Nowhere", "latitude": 91}, {"id": 4, "name": "Hall"}]"#,
        "tracks.json": "[]", "sponsors.json": "[17]",
    ]

    private static func read(_ files: [String: String] = Self.files) throws -> OpenEventExport {
        try Exports.withFolder(files) { try OpenEventImporter.read($0) }
    }

    private static func part(_ export: OpenEventExport, _ name: String) throws -> OpenEventExport.Part {
        try #require(export.parts.first { $0.className == name })
    }

    @Test("records that break a rule are set aside and the rest is read, with every problem and its place reported")
    func places() throws {
        let export = try Self.read()
        let texts = export.setAside.map(\.description)
        let expected = [
            #"microlocations.json, record 1 (id 3), field 'latitude': expected a number from -90.0 to 90.0, found "#
                + "the number 91.",
            "sponsors.json, record 1: expected an object, found the number 17.",
            "speakers.json, record 2, field 'id': expected a number or a string, found null.",
            "speakers.json, record 2, field 'name': expected a string that isn't empty, found null.",
            #"speakers.json, record 4 (id 7), field 'is-featured': expected true or false, found "perhaps"."#,
            "sessions.json, record 2 (id 2), field 'ends-at': expected a date not before the start, found "
                + #""2030-01-01T11:00Z", earlier than "2030-01-01T12:00Z"."#,
            "sessions.json, record 1 (id 1), field 'track': expected a record of tracks.json, found id 8 and name "
                + "'Gone', which doesn't exist.",
            "sessions.json, record 1 (id 1), field 'microlocation': expected a record of microlocations.json, found "
                + "id 3 and name 'Nowhere', which was set aside.",
            "sessions.json, record 1 (id 1), field 'speakers': expected an object with an id or a name as entry 2, "
                + #"found an object with "id": null, "name": null."#,
            "sessions.json, record 3 (id 3), field 'session-type': expected an object with an id or a name, found an "
                + #"object with "id": null."#,
            "sessions.json, record 3 (id 3), field 'speakers': expected a record of speakers.json, found id 7, which "
                + "was set aside.",
        ]
        #expect(texts == expected, "\(texts.joined(separator: "\n"))")
        #expect(export.setAside.recordCount == 5 && export.setAside.linkCount == 5)
        let counts = Dictionary(
            uniqueKeysWithValues: export.parts.map {
                ($0.className, [$0.recordCount, $0.setAsideCount, $0.rows.count])
            })
        #expect(counts["Session"] == [3, 1, 2])
        #expect(counts["Session.speakers"] == [4, 2, 2])
        #expect(counts["Speaker"] == [4, 2, 2])
        #expect(counts["Microlocation"] == [2, 1, 1])
        #expect(counts["Sponsor"] == [1, 1, 0])
        #expect(export.people.count == 1)
        #expect(export.notes.contains { $0.file == "speakers.json" && $0.message.contains(#""id": null"#) })
    }

    @Test("a strict import refuses such an export, naming the problems of records and links")
    func strict() throws {
        let error = try #require(throws: OpenEventError.self) {
            _ = try Exports.withFolder(Self.files) { try OpenEventImporter.read($0, isStrict: true) }
        }
        for (file, field) in [
            ("sessions.json", "ends-at"), ("sessions.json", "speakers"), ("sessions.json", "track"),
            ("speakers.json", "name"), ("microlocations.json", "latitude"),
        ] {
            #expect(error.problems.contains { $0.file == file && $0.field == field }, "\(file) \(field)")
        }
    }

    @Test("an error in the event or in a whole file refuses the export, strict or not")
    func fatal() throws {
        for (file, text) in [
            ("event.json", Exports.event.replacing("Europe/Berlin", with: "Europe/Atlantis")), ("event.json", "[]"),
            ("sessions.json", "[{]"), ("tracks.json", "{}"),
        ] {
            let error = try #require(throws: OpenEventError.self) {
                try Self.read(Self.files.merging([file: text]) { $1 })
            }
            #expect(error.problems.map(\.file) == [file])
        }
    }

    @Test("a record with text that PostgreSQL refuses is set aside, wherever the text is")
    func zeroCharacters() throws {
        for (file, text) in [
            ("sessions.json", #"[{"id": "a\u0000b", "title": "T"}]"#),
            ("speakers.json", #"[{"id": 1, "name": "N", "email": "a\u0000@example.org"}]"#),
            ("speakers.json", #"[{"id": 1, "name": "N", "mobile": true}]"#),
        ] {
            let export = try Self.read(["event.json": Exports.event, file: text])
            #expect(export.setAside.recordCount == 1, "\(text)")
            #expect(export.parts.allSatisfy { $0.file != file || $0.rows.isEmpty }, "\(text)")
        }
        let typed = try Self.read([
            "event.json": Exports.event,
            "sessions.json": #"[{"id": 1, "title": "T", "session-type": {"name": "a\u0000b"}}]"#,
        ])
        #expect(typed.setAside.linkCount == 1)
        #expect(try Self.part(typed, "Session").rows.count == 1)
    }

    @Test("a link to a record that was set aside doesn't lead to another record with the same id")
    func sharedIDs() throws {
        let export = try Self.read([
            "event.json": Exports.event,
            "speakers.json": #"[{"id": 5, "name": "Ann"}, {"id": 5, "name": "Bo", "is-featured": "perhaps"}]"#,
            "sessions.json": #"[{"id": 1, "title": "T", "speakers": [{"id": 5, "name": "Bo"}]}]"#,
        ])
        #expect(try Self.part(export, "Session.speakers").rows.isEmpty)
        #expect(export.setAside.last?.found.contains("set aside") == true)
    }

    @Test("a record keeps its key when faulty records with the same id before it are corrected")
    func keys() throws {
        func keys(_ first: String) throws -> [Value] {
            let export = try Self.read([
                "event.json": Exports.event, "tracks.json": #"[\#(first), {"id": 1, "name": "B"}]"#,
            ])
            return try Self.part(export, "Track").rows.map { $0[0] }
        }
        #expect(try keys(#"{"id": 1, "name": ""}"#) == Array(keys(#"{"id": 1, "name": "A"}"#).dropFirst()))
    }

    @Test("the remaining records are in the database, the summary counts both, and corrected files add the rest")
    func database() async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        for step in PostgresSchema.statements(for: EventModels.schema) { try await connection.execute(step.sql) }
        let summary = try await OpenEventImporter.write(try Self.read(), to: connection)
        #expect(summary["Session"]?.inserted == 2 && summary["Session"]?.setAside == 1)
        #expect(summary["Session.speakers"]?.inserted == 2 && summary["Session.speakers"]?.setAside == 2)
        #expect(summary.setAside.recordCount == 5)
        let titles = try await connection.query("SELECT string_agg(title, ',' ORDER BY title) FROM session")
        #expect(try titles[0, 0].string == "One,Three")

        var mended = Self.files
        mended["sessions.json"] = mended["sessions.json"]?.replacing("2030-01-01T12:00Z", with: "2030-01-01T10:00Z")
        let second = try await OpenEventImporter.write(try Self.read(mended), to: connection)
        #expect(second["Session"]?.inserted == 1 && second["Session"]?.unchanged == 2)
        #expect(second["Session.speakers"]?.inserted == 1)
        await connection.close()
    }

    @Test("the tool exits with 2 if something was set aside, 0 if nothing was, 1 if nothing can be imported")
    func exitCodes() async throws {
        func run(_ path: String, _ more: String...) async throws -> ProgramRun.Outcome {
            try await BuiltProgram("conference", "ConferenceTool").run(
                ["import", "open-event", path, "--check"] + more)
        }
        #expect(try await run(Exports.sample).status == 0)
        #expect(try await run(Exports.sample, "--strict").status == 0)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("export-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in Self.files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        let outcome = try await run(folder.path)
        #expect(outcome.status == 2, "\(outcome.messages)")
        #expect(outcome.output.contains("sessions.json, record 2 (id 2), field 'ends-at'"))
        #expect(outcome.output.contains("Session: 2, 1 set aside"))
        let strict = try await run(folder.path, "--strict")
        #expect(strict.status == 1)
        #expect(strict.messages.contains("sessions.json, record 2 (id 2), field 'ends-at'"))
        try Data("[".utf8).write(to: folder.appendingPathComponent("event.json"))
        #expect(try await run(folder.path).status == 1)
    }
}
