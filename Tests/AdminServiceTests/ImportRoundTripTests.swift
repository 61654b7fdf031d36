@testable import AdminService
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PostgresClient
import ServiceTestSupport
import TestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
@testable import TomboloJSONAPI
import TomboloMigration
import TomboloModel
import TomboloRules
import TomboloServerModel

@Suite("Importing an export changes nothing, in every format")
struct ImportRoundTripTests {
    final class Freight: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
        @Persisted var note: String?
        @Persisted var count: Int
        @Persisted var ratio: Double?
        @Persisted var isHeavy: Bool
        @Persisted var isFragile: Bool?
        @Persisted var price: Decimal128?
        @Persisted var loadedAt: Date?
        @Persisted var seal: Data?
        @Persisted var label: UUID?
        @Persisted var start: Quay?
        @Persisted var captain: Skipper?
        @Persisted var crew: List<Skipper>
        @Persisted var tags: List<String>
        @Persisted var depths: List<Double?>
    }

    final class Quay: EmbeddedObject {
        @Persisted var town: String
        @Persisted var remark: String?
        @Persisted var place: Spot?
        @Persisted var berths: List<Int>
    }

    final class Spot: EmbeddedObject {
        @Persisted var latitude: Double
        @Persisted var note: String?
    }

    final class Skipper: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
    }

    private static func run(_ body: @escaping @Sendable (AppSite) async throws -> Void) async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "harbour", objectTypes: [Freight.self, Skipper.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents, body)
    }

    /// Text that could be misinterpreted on the way.
    private static let hostile = [
        "plain", "", "null", "=1+1", "'=1", "''", "'", "-5", "+a", "@x", "\ttab", "\rreturn", "two\nlines", "a\r\nb",
        "say \"hi\"", "a,b;c\td", " blanks ", "ümläut 日本 🚢", "true", "0012", "[]", "{}", "\\N", "\u{1}\u{2}",
        "＝1+1", "'＝1", "＋a", "－5", "＠x", "\nline",
    ]

    private static func text(_ json: JSON) -> String { JobStore.text(json) }

    private static func add(_ site: AppSite) async throws {
        for (index, text) in hostile.enumerated() {
            let name = JSON.string(text)
            let skipper: JSON = [
                "data": ["type": "skippers", "id": .string("\(text)-\(index)"), "attributes": ["name": name]]
            ]
            let made = try await site.call(.post, "/api/skippers", Self.text(skipper), type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
        }
        for (index, text) in hostile.enumerated() {
            func skipper(_ index: Int) -> JSON {
                ["type": "skippers", "id": .string("\(hostile[index % hostile.count])-\(index % hostile.count)")]
            }
            let isFull = index % 2 == 0
            var attributes: [String: JSON] = [
                "name": .string(text), "count": .int(Int64(index) - 3), "isHeavy": .bool(index % 3 == 0),
                "tags": .array(isFull ? hostile.map(JSON.string) : []),
                "depths": isFull ? [.double(1.5), .null, .double(-0.25), 3] : [],
            ]
            if index % 3 == 0 { attributes["note"] = .string(text) }
            if isFull {
                attributes["ratio"] = .double(Double(index) / 3)
                attributes["isFragile"] = .bool(index % 4 == 0)
                attributes["price"] = .string("\(index).50")
                attributes["loadedAt"] = "2026-05-14T13:22:18.123456Z"
                attributes["seal"] = .string(Data([0, 1, 255, UInt8(index)]).base64EncodedString())
                attributes["label"] = .string(UUID().uuidString.lowercased())
            }
            if index % 4 < 2 {
                // Some with only a town, which may be empty; some with everything.
                var quay: [String: JSON] = ["town": .string(text), "berths": []]
                if isFull {
                    quay["remark"] = .string(text)
                    quay["place"] = ["latitude": .double(53.5), "note": index % 8 == 0 ? .string(text) : .null]
                    quay["berths"] = [3, 1, 2]
                }
                attributes["start"] = .object(quay)
            }
            var relationships: [String: JSON] = [
                "crew": ["data": isFull ? [skipper(index), skipper(index + 1)] : []]
            ]
            if index % 3 != 1 { relationships["captain"] = ["data": skipper(index + 2)] }
            let freight: JSON = [
                "data": [
                    "type": "freights", "id": .string("\(text)#\(index)"), "attributes": .object(attributes),
                    "relationships": .object(relationships),
                ]
            ]
            let made = try await site.call(.post, "/api/freights", Self.text(freight), type: "application/vnd.api+json")
            #expect(made.status == 201, "\(text): \(made.text)")
        }
    }

    private static let formats = [
        ("format=csv", "text/csv", ""), ("format=csv&formulas=plain", "text/csv", #", "formulas": "plain""#),
        ("format=json", "application/json", ""), ("format=ndjson", "application/x-ndjson", ""),
        // Columns with titles beside the ids are ignored.
        ("format=csv&titles=true", "text/csv", ""), ("format=json&titles=true", "application/json", ""),
    ]

    @Test("importing into the same database changes nothing, and importing into an empty one restores everything")
    func roundTrip() async throws {
        try await Self.run { site in
            try await Self.add(site)
            for (query, type, wishes) in Self.formats {
                let export = try await site.call(.get, "/export/freights?sort=id&\(query)")
                #expect(export.status == 200)
                // If anything read differently than it was written, its row would be changed.
                let same = try await site.load(export.text, type, to: "freights", #""mode": "upsert"\#(wishes)"#)
                let total = Int64(Self.hostile.count)
                #expect(same.job["leftAlone"]?.number == total, "\(query): \(Self.text(same.rows))")
                try await site.pool.execute("DELETE FROM freight")
                let again = try await site.load(export.text, type, to: "freights", #""mode": "create"\#(wishes)"#)
                #expect(again.job["done"]?.number == total, "\(query): \(Self.text(again.rows))")
                let after = try await site.call(.get, "/export/freights?sort=id&\(query)")
                #expect(after.text == export.text, "\(query)")
            }
            let people = try await site.call(.get, "/export/skippers?sort=id")
            let same = try await site.load(people.text, "text/csv", to: "skippers", #""mode": "upsert""#)
            #expect(same.job["leftAlone"]?.number == Int64(Self.hostile.count), "\(Self.text(same.rows))")
        }
    }

    @Test("a file with some members of an embedded object leaves the others alone, and an undo reverts what it changed")
    func partly() async throws {
        try await Self.run { site in
            try await Self.add(site)
            let before = try await site.call(.get, "/export/freights?sort=id&format=json").text
            let rows = "id,start.town,start.place.latitude,note\nplain#0,Kiel,1.5,x\ntrue#18,,,\n"
            let loaded = try await site.load(rows, "text/csv", to: "freights", #""mode": "update""#)
            #expect(loaded.job["done"] == 1 || loaded.job["done"] == 2, "\(Self.text(loaded.rows))")
            let changed = try await site.call(.get, "/api/freights/plain%230")
            let start = changed.json["data"]?["attributes"]?["start"]
            #expect(start?["town"] == "Kiel" && start?["place"]?["latitude"] == .double(1.5), "\(changed.text)")
            #expect(start?["remark"] == "plain" && start?["berths"] == [3, 1, 2], "\(changed.text)")
            #expect(start?["place"]?["note"] == "plain", "\(changed.text)")
            let undo = try await site.call(.post, "/jobs/\(loaded.job["id"]?.number ?? 0)/undo")
            #expect(undo.status == 202, "\(undo.text)")
            while try await site.service.runner.step() {}
            #expect(try await site.call(.get, "/export/freights?sort=id&format=json").text == before)
        }
    }

    @Test("a link into the trash is hidden in an export, and importing the export doesn't remove it")
    func hiddenLinks() async throws {
        try await BulkTests.run { site in
            #expect(try await site.call(.delete, "/api/microlocations/\(site.fixture.room)", as: "owner").status == 204)
            #expect(
                try await site.call(.delete, "/api/speakers/\(site.fixture.speakers[0])", as: "owner").status == 204)
            let rooms = "SELECT count(*) FROM session WHERE room IS NOT NULL"
            let speakers = "SELECT count(*) FROM session_speakers"
            let (roomCount, speakerCount) = (try await site.count(rooms), try await site.count(speakers))
            for format in ["csv", "json"] {
                let export = try await site.call(.get, "/export/sessions?format=\(format)", as: "owner")
                let file = try await UploadedFile.upload(
                    site, export.text, type: format == "csv" ? "text/csv" : "application/json", to: "sessions")
                let over = try await file.finish([#""mode": "upsert""#])
                #expect(over.json["leftAlone"] == over.json["total"], "\(over.text)")
            }
            #expect(try await site.count(rooms) == roomCount && roomCount > 0)
            #expect(try await site.count(speakers) == speakerCount && speakerCount > 0)
        }
    }
}

extension AppSite {
    /// Uploads, previews, starts and runs an import.
    func load(
        _ text: String, _ type: String, to collection: String, _ wishes: String
    ) async throws -> (job: JSON, rows: JSON) {
        let upload = try await call(.post, "/import/\(collection)", text, type: type)
        #expect(upload.status == 201, "\(upload.text)")
        let path = "/import/\(collection)/\(upload.json["job"]?["id"]?.number ?? 0)"
        let preview = try await call(.post, "\(path)/preview", "{\(wishes)}")
        #expect(preview.status == 200 && preview.json["problems"] == [], "\(preview.text)")
        let version = preview.json["version"]?.text ?? ""
        let started = try await call(
            .post, "\(path)/start", #"{\#(wishes), "expect": {"version": "\#(version)"}}"#)
        #expect(started.status == 202, "\(started.text)")
        while try await service.runner.step() {}
        let job = "/jobs/\(upload.json["job"]?["id"]?.number ?? 0)"
        return (try await call(.get, job).json, try await call(.get, "\(job)/rows").json)
    }
}
