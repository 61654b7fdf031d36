import EventModels
import Foundation
import PostgresClient
import RandomValues
import TestSupport
import Testing
import TomboloModel
import TomboloPostgresStore

@testable import OpenEventImport

/// Randomly damaged exports are either refused, or read into consistent rows that PostgreSQL accepts.
@Suite struct CorruptionTests {
    static let names = ["event", "tracks", "microlocations", "sponsors", "speakers", "sessions"]
    static let exports =
        [Exports.sample] + (Exports.haveShared ? ["OSCON17", "Droidcon17"].map(Exports.shared) : [])

    private static let isLong = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1"

    /// Values in places where others are expected.
    private static let strange: [String] = [
        "null", "true", "-1", "1e400", "9223372036854775808", "0.5", #""""#, #"" ""#, #""\u0000""#, #""é\ud83d\ude00""#,
        #""2017-05-08T13:00:00-05:00""#, #""1066-10-14""#, #""9999-12-31T23:59:59Z""#, "[]", "[[]]", "{}", "[null]",
        #"{"id": null, "name": null}"#, #"{"id": 1}"#, #"{"name": "nobody"}"#, #"[{"id": 3}, {"id": 3}, 4, "x"]"#,
    ]

    private static func load(_ path: String) throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: names.map {
                ("\($0).json", try String(contentsOf: URL(fileURLWithPath: "\(path)/\($0).json"), encoding: .utf8))
            })
    }

    /// Replaces the text after some colons with strange values, so that most of the file remains valid JSON.
    private static func damageValues(_ text: String, _ generator: inout SeededGenerator) -> String {
        var lines = text.components(separatedBy: "\": ")
        for _ in 0..<Int.random(in: 1...6, using: &generator) where lines.count > 1 {
            let position = Int.random(in: 1..<lines.count, using: &generator)
            guard let end = lines[position].firstIndex(where: { ",}\n".contains($0) }) else { continue }
            lines[position] = (strange.randomElement(using: &generator) ?? "") + lines[position][end...]
        }
        return lines.joined(separator: "\": ")
    }

    /// Changes, removes or duplicates bytes.
    private static func damageBytes(_ text: String, _ generator: inout SeededGenerator) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let start = Int.random(in: 0..<bytes.count, using: &generator)
            let end = min(bytes.count, start + Int.random(in: 0...40, using: &generator))
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: start)
            default: bytes.removeSubrange(start...)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func damaged(_ files: [String: String], _ generator: inout SeededGenerator) -> [String: String] {
        var files = files
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            guard let name = names.randomElement(using: &generator), let text = files["\(name).json"] else { continue }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: files["\(name).json"] = nil
            case 1: files["\(name).json"] = damageBytes(text, &generator)
            default: files["\(name).json"] = damageValues(text, &generator)
            }
        }
        return files
    }

    /// Every row is valid, keys are unique, links lead to imported rows, and every record is accounted for.
    private static func check(_ export: OpenEventExport) throws {
        var keys: Set<Value> = [.null]
        for part in export.parts {
            let item = try #require(EventModels.schema[part.className])
            for row in part.rows {
                try item.validate(row)
                #expect(keys.insert(row[0]).inserted, "\(part.className)")
                for (index, column) in item.columns.enumerated() where index > 0 && column.name != "user" {
                    if case .objectId = row[index] { #expect(keys.contains(row[index]), "\(item.name).\(column.name)") }
                }
            }
            let deleted = export.notes.count { $0.file == part.file && $0.message.contains("marked as deleted") }
            let isFile = ["Track", "Microlocation", "Sponsor", "Speaker", "Session"].contains(part.className)
            #expect(
                part.rows.count + part.setAsideCount + (isFile ? deleted : 0) == part.recordCount, "\(part.className)")
        }
        let setAside = export.parts.filter { $0.className != "Session.speakers" }.map(\.setAsideCount).reduce(0, +)
        #expect(export.setAside.recordCount == setAside)
    }

    @Test("a damaged export is refused, or read into rows that fit together", arguments: exports)
    func reading(_ path: String) throws {
        var generator = SeededGenerator.printed(for: "damaged exports")
        let files = try Self.load(path)
        var readCount = 0
        for _ in 0..<(Self.isLong ? 500 : 40) {
            let damaged = Self.damaged(files, &generator)
            try Exports.withFolder(damaged) { folder in
                do {
                    let export = try OpenEventImporter.read(folder)
                    readCount += 1
                    try Self.check(export)
                    let strict = try? OpenEventImporter.read(folder, isStrict: true)
                    #expect(export.setAside.isEmpty || strict == nil)
                } catch let error as OpenEventError {
                    #expect(!error.problems.isEmpty && error.problems.allSatisfy { $0.extent == .export })
                    #expect((try? OpenEventImporter.read(folder, isStrict: true)) == nil)
                }
            }
        }
        #expect(readCount > 0)
    }

    @Test("PostgreSQL accepts the rows read from damaged exports, one after the other")
    func writing() async throws {
        var generator = SeededGenerator.printed(for: "damaged imports")
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        for step in PostgresSchema.statements(for: EventModels.schema) { try await connection.execute(step.sql) }
        let files = try Self.load(Exports.sample)
        for _ in 0..<(Self.isLong ? 400 : 40) {
            let damaged = Self.damaged(files, &generator)
            guard let export = try? Exports.withFolder(damaged, { try OpenEventImporter.read($0) }) else { continue }
            let summary = try await OpenEventImporter.write(export, to: connection)
            for line in summary.lines { #expect(line.inserted + line.updated + line.unchanged == line.rows) }
        }
        await connection.close()
    }
}
