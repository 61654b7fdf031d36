import EventModels
import Foundation
import Testing
import TomboloModel

@testable import OpenEventImport

@Suite struct OpenEventParserTests {
    private func read(_ files: [String: String]) throws -> OpenEventExport {
        try Exports.withFolder(files) { try OpenEventImporter.read($0) }
    }

    /// The problems for which a strict import refuses the files.
    private func problems(_ files: [String: String]) throws -> [OpenEventProblem] {
        do {
            _ = try Exports.withFolder(files) { try OpenEventImporter.read($0, isStrict: true) }
            return []
        } catch let error as OpenEventError {
            return error.problems
        }
    }

    private func value(_ export: OpenEventExport, _ name: String, _ position: Int, _ property: String) throws -> Value {
        let part = try #require(export.parts.first { $0.className == name })
        let item = try #require(EventModels.schema[name])
        return part.rows[position][try #require(item.columnIndex(property))]
    }

    private func counts(_ export: OpenEventExport) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: export.parts.map { ($0.className, $0.rows.count) })
    }

    @Test func theBundledSampleIsWholeAndHasItsOddities() throws {
        let export = try OpenEventImporter.read(Exports.sample)
        let expected = [
            "Event": 1, "SocialLink": 2, "Track": 3, "Microlocation": 3, "Sponsor": 4, "Speaker": 8,
            "SpeakerContact": 5, "Session": 12, "Session.speakers": 12,
        ]
        #expect(counts(export) == expected)
        #expect(export.people.count == 5)
        for part in export.parts {
            let item = try #require(EventModels.schema[part.className])
            #expect(Set(part.rows.map { $0[0] }).count == part.rows.count)
            for row in part.rows { try item.validate(row) }
        }
        // A date without an offset is local time in the event's zone: 13:30 in Berlin's summer is 11:30 UTC.
        let utc = try #require(TimeZone(identifier: "UTC"))
        let time = try #require(OpenEventTime.microseconds("2031-05-15T11:30:00Z", zone: utc))
        #expect(try value(export, "Session", 5, "startsAt") == .date(time))
    }

    @Test(.enabled(if: Exports.haveShared, "needs ../shared/data/open-event"))
    func aRealConferenceWithASharedSpeakerIDIsReadWhole() throws {
        let export = try OpenEventImporter.read(Exports.shared("OSCON17"))
        let counts = counts(export)
        #expect(counts["Session"] == 19 && counts["Speaker"] == 19 && counts["Track"] == 7)
        #expect(counts["Microlocation"] == 8 && counts["Sponsor"] == 40 && counts["Session.speakers"] == 22)
        #expect(counts["SpeakerContact"] == 0)
        // Two speakers have the id 18; each session gets the one whose name it gives.
        let elements = try #require(export.parts.first { $0.className == "Session.speakers" }).rows
        let speakers = try #require(export.parts.first { $0.className == "Speaker" })
        let sessions = try #require(export.parts.first { $0.className == "Session" })
        func names(ofSession position: Int) throws -> [Value] {
            try elements.filter { $0[ElementColumn.owner] == sessions.rows[position][0] }.map { element in
                let index = try #require(speakers.rows.firstIndex { $0[0] == element[ElementColumn.target] })
                return try value(export, "Speaker", index, "name")
            }
        }
        #expect(try names(ofSession: 15) == [.string("Aaron Maxwell")])
        #expect(try names(ofSession: 16) == [.string("Joshua Long")])
        // Here the id belongs to Rachel Roumeliotis, and the name to another speaker.
        #expect(try names(ofSession: 17) == [.string("Kelsey Hightower")])
        #expect(
            export.notes.contains { $0.file == "sessions.json" && $0.record == 18 && $0.message.contains("was used") })
        #expect(export.notes.contains { $0.file == "speakers.json" && $0.record == 19 && $0.message.contains("id 18") })
    }

    @Test(.enabled(if: Exports.haveShared, "needs ../shared/data/open-event"))
    func aRealConferenceWithASharedSessionIDIsReadWhole() throws {
        let export = try OpenEventImporter.read(Exports.shared("Droidcon17"))
        let counts = counts(export)
        #expect(counts["Session"] == 38 && counts["Speaker"] == 33 && counts["Track"] == 2)
        #expect(counts["Microlocation"] == 3 && counts["Sponsor"] == 11 && counts["Session.speakers"] == 33)
        #expect(try value(export, "Event", 0, "latitude") == .null)
        #expect(export.notes.contains { $0.file == "sessions.json" && $0.message.contains("id 32") })
        // Both conferences have the same identifier, but their objects still have different keys.
        let other = try OpenEventImporter.read(Exports.shared("OSCON17"))
        let keys = Set(export.parts.flatMap { $0.rows.map { $0[0] } })
        #expect(keys.isDisjoint(with: other.parts.flatMap { $0.rows.map { $0[0] } }))
    }

    @Test func readingTwiceGivesTheSameRows() throws {
        let first = try OpenEventImporter.read(Exports.sample)
        let second = try OpenEventImporter.read(Exports.sample)
        #expect(first.parts.map(\.rows) == second.parts.map(\.rows))
    }

    @Test func keysMayBeWrittenInThreeStyles() throws {
        for key in ["short-abstract", "short_abstract", "shortAbstract"] {
            let export = try read([
                "event.json": Exports.event, "sessions.json": #"[{"id": 1, "title": "T", "\#(key)": "S"}]"#,
            ])
            #expect(try value(export, "Session", 0, "shortAbstract") == .string("S"))
        }
    }

    @Test func aFieldInTwoStylesWithTwoValuesIsAnError() throws {
        let found = try problems([
            "event.json": Exports.event,
            "sessions.json": #"[{"id": 1, "title": "T", "short-abstract": "a", "short_abstract": "b"}]"#,
        ])
        #expect(found.count == 1 && found[0].record == 1 && found[0].expected.contains("short"))
    }

    @Test func emptyTextsStandForNoValueInEveryField() throws {
        let export = try read([
            "event.json": Exports.event.replacing("}", with: #", "latitude": "", "longitude": " "}"#),
            "sessions.json":
                #"[{"id": 1, "title": "T", "starts-at": "", "ends-at": "", "track": "", "microlocation": ""}]"#,
            "microlocations.json": #"[{"id": 1, "name": "R", "floor": "", "latitude": ""}]"#,
            "sponsors.json": #"[{"id": "", "name": "S", "level": ""}]"#.replacing(#""id": """#, with: #""id": "x""#),
        ])
        #expect(try value(export, "Event", 0, "latitude") == .null)
        #expect(try value(export, "Session", 0, "startsAt") == .null)
        #expect(try value(export, "Session", 0, "track") == .null)
        #expect(try value(export, "Microlocation", 0, "floor") == .null)
        #expect(try value(export, "Sponsor", 0, "level") == .null)
        #expect(try value(export, "Sponsor", 0, "sourceID") == .string("x"))
    }

    @Test func referencesMayHaveOnlyAnIDOrOnlyAName() throws {
        let tracks = #"[{"id": 1, "name": "One"}, {"id": 2, "name": "Two"}]"#
        for reference in [
            #"{"id": 2}"#, #"{"name": "two"}"#, "2", #""2""#, #""Two""#, #"{"id": "2", "name": " T wo"}"#,
        ] {
            let export = try read([
                "event.json": Exports.event, "tracks.json": tracks,
                "sessions.json": #"[{"id": 1, "title": "T", "track": \#(reference)}]"#,
            ])
            let second = try value(export, "Track", 1, "_id")
            #expect(try value(export, "Session", 0, "track") == second, "\(reference)")
        }
    }

    struct Bad: Sendable {
        let file: String
        let text: String
        let record: Int?
        let id: String?
        let field: String?
        let expected: String
        let found: String
    }

    static let bad: [Bad] = [
        Bad(file: "sessions.json", text: "[{]", record: nil, id: nil, field: nil, expected: "JSON", found: "invalid"),
        Bad(file: "sessions.json", text: "{}", record: nil, id: nil, field: nil, expected: "list", found: "object"),
        Bad(file: "sessions.json", text: "[3]", record: 1, id: nil, field: nil, expected: "object", found: "number 3"),
        Bad(
            file: "sessions.json", text: #"[{"id": 1, "title": "T"}, {"id": 5, "title": ""}]"#, record: 2, id: "5",
            field: "title", expected: "isn't empty", found: "\"\""),
        Bad(
            file: "sessions.json", text: #"[{"title": "T"}]"#, record: 1, id: nil, field: "id", expected: "number",
            found: "nothing"),
        Bad(
            file: "sessions.json", text: #"[{"id": 4, "title": "T", "starts-at": "2030-02-30T10:00:00Z"}]"#, record: 1,
            id: "4", field: "starts-at", expected: "2017-05-08T13:00:00-05:00", found: "2030-02-30"),
        Bad(
            file: "sessions.json",
            text: #"[{"id": 4, "title": "T", "starts-at": "2030-01-01T10:00Z", "ends-at": "2030-01-01T09:00Z"}]"#,
            record: 1, id: "4", field: "ends-at", expected: "not before", found: "earlier"),
        Bad(
            file: "sessions.json", text: #"[{"id": 4, "title": "T", "state": "acepted"}]"#, record: 1, id: "4",
            field: "state", expected: "draft, pending, accepted", found: "acepted"),
        Bad(
            file: "sessions.json", text: #"[{"id": 4, "title": "T", "track": {"id": 9, "name": "Nine"}}]"#, record: 1,
            id: "4", field: "track", expected: "tracks.json", found: "id 9 and name 'Nine'"),
        Bad(
            file: "sessions.json", text: #"[{"id": 4, "title": "T", "speakers": "Ann"}]"#, record: 1, id: "4",
            field: "speakers", expected: "a list", found: "Ann"),
        Bad(
            file: "sponsors.json", text: #"[{"id": 4, "name": "S", "level": "gold"}]"#, record: 1, id: "4",
            field: "level", expected: "whole number", found: "gold"),
        Bad(
            file: "microlocations.json", text: #"[{"id": 4, "name": "R", "latitude": 91}]"#, record: 1, id: "4",
            field: "latitude", expected: "-90", found: "91"),
        Bad(
            file: "speakers.json", text: #"[{"id": 4, "name": "S", "is-featured": "maybe"}]"#, record: 1, id: "4",
            field: "is-featured", expected: "true or false", found: "maybe"),
        Bad(
            file: "tracks.json", text: "[{\"id\": 4, \"name\": \"T\\u0000\"}]", record: 1, id: "4", field: "name",
            expected: "U+0000", found: "with it"),
        Bad(
            file: "event.json", text: Exports.event.replacing("Europe/Berlin", with: "Europe/Atlantis"), record: 1,
            id: "7", field: "timezone", expected: "Europe/Berlin", found: "Europe/Atlantis"),
        Bad(
            file: "event.json", text: Exports.event.replacing("\"name\"", with: "\"title\""), record: 1, id: "7",
            field: "name", expected: "isn't empty", found: "nothing"),
        Bad(
            file: "event.json", text: Exports.event.replacing("starts-at", with: "begins"), record: 1, id: "7",
            field: "starts_at", expected: "a date", found: "nothing"),
        Bad(file: "event.json", text: "[]", record: nil, id: nil, field: nil, expected: "object", found: "list of 0"),
    ]

    @Test(arguments: bad.indices)
    func aBadFileIsRefusedWithItsPlace(_ index: Int) throws {
        let bad = Self.bad[index]
        let found = try problems(["event.json": Exports.event].merging([bad.file: bad.text]) { $1 })
        #expect(found.count == 1, "\(found)")
        let problem = try #require(found.first)
        #expect(problem.file == bad.file && problem.record == bad.record && problem.id == bad.id)
        #expect(problem.field == bad.field)
        #expect(problem.expected.contains(bad.expected), "\(problem)")
        #expect(problem.found.contains(bad.found), "\(problem)")
    }

    @Test func aFolderWithoutAnEventIsRefused() throws {
        let found = try problems([:])
        #expect(found.count == 1 && found[0].file == "event.json" && found[0].found == "no such file")
    }

    @Test func allProblemsOfAllFilesAreReportedTogether() throws {
        let found = try problems([
            "event.json": Exports.event, "tracks.json": #"[{"id": 1}, {"id": 2}]"#,
            "sponsors.json": #"[{"id": 1, "name": "S", "level": "x"}]"#,
        ])
        #expect(found.map(\.file) == ["tracks.json", "tracks.json", "sponsors.json"])
        let text = OpenEventError(problems: found).description
        #expect(
            text.contains(
                "tracks.json, record 2 (id 2), field 'name': expected a string that isn't empty, found nothing."))
    }

    @Test func recordsMarkedAsDeletedAreLeftOut() throws {
        let export = try read([
            "event.json": Exports.event,
            "sessions.json":
                #"[{"id": 1, "title": "T", "deleted-at": "2020-01-01T00:00:00Z"}, {"id": 2, "title": "U"}]"#,
        ])
        let part = try #require(export.parts.first { $0.className == "Session" })
        #expect(part.recordCount == 2 && part.rows.count == 1)
        #expect(export.notes.contains { $0.message.contains("marked as deleted") })
    }

    @Test func aDraftEventsObjectsAreNotPublic() throws {
        let tracks = #"[{"id": 1, "name": "One"}]"#
        for (state, isPublic) in [("draft", false), ("Published", true)] {
            let event = Exports.event.replacing("\"published\"", with: "\"\(state)\"")
            let export = try read(["event.json": event, "tracks.json": tracks])
            #expect(try value(export, "Track", 0, "isPublic") == .bool(isPublic))
        }
    }

    @Test(arguments: [
        ("2017-05-08T13:00:00-05:00", 1_494_266_400_000_000), ("2017-05-08T18:00:00Z", 1_494_266_400_000_000),
        ("2017-05-08 18:00:00+0000", 1_494_266_400_000_000), ("2017-05-08T20:00", 1_494_266_400_000_000),
        ("1970-01-01T00:00:00.000001Z", 1), ("1969-12-31T23:59:59.9999999Z", -1), ("2000-02-29", 951_778_800_000_000),
        ("2030-10-27T02:30:00", 1_919_291_400_000_000),
    ])
    func datesAreReadToTheMicrosecond(_ text: String, _ expected: Int64) throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        #expect(OpenEventTime.microseconds(text, zone: berlin) == expected)
    }

    @Test(arguments: [
        "", "yesterday", "2017-13-01", "2017-02-29", "2017-05-08T24:00:00Z", "2017-05-08T13:60:00Z",
        "2017-05-08T13:00:00-0", "2017-05-08T13:00:00Zoo", "2017-5-8", "0000-01-01", "2017-05-08T13:00:00+19:00",
        "2017-05-08T13:00:00.Z",
    ])
    func whatIsNoDateIsRefused(_ text: String) throws {
        let utc = try #require(TimeZone(identifier: "UTC"))
        #expect(OpenEventTime.microseconds(text, zone: utc) == nil)
    }
}
