import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@testable import AdminService
@testable import TomboloJSONAPI

@Suite("Jobs can restore numbers that JSON doesn't have, and imports read them from exports")
struct InfiniteNumberTests {
    final class Gauge: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
        @Persisted var most: Double
        @Persisted var span: GaugeSpan?
        @Persisted var rate: Decimal128?
        @Persisted var levels: List<Double>
    }

    final class GaugeSpan: EmbeddedObject {
        @Persisted var name: String
        @Persisted var least: Double
    }

    private static func run(_ body: @escaping @Sendable (AppSite) async throws -> Void) async throws {
        let documents = AppDocuments(
            models: try ModelDocument(app: "gauges", objectTypes: [Gauge.self]),
            rules: "version: 1\ndefaultRoles:\n  - {name: everybody, applyWhen: {}, read: true, write: true}\n")
        try await AppSite.run(documents) { site in
            let attributes = #"{"name": "a", "most": 1, "span": {"name": "s", "least": 2}, "levels": [3, 4, 5]}"#
            let made = try await site.call(
                .post, "/api/gauges", #"{"data": {"type": "gauges", "id": "g", "attributes": \#(attributes)}}"#,
                type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
            try await site.pool.execute("UPDATE gauge SET most = 'Infinity', span_least = '-Infinity', rate = 'NaN'")
            let list = try #require(site.schema["Gauge.levels"])
            let content = list.columns[ElementColumn.content].sqlName
            try await site.pool.execute(
                "UPDATE \"\(list.table)\" SET \"\(content)\" = '-Infinity' WHERE \"\(content)\" = 4")
            try await body(site)
        }
    }

    private static func numbers(_ site: AppSite) async throws -> [Double] {
        let row = try await site.pool.query("SELECT most, span_least FROM gauge")
        return [try row[0, 0].double, try row[0, 1].double]
    }

    private static func undo(_ site: AppSite, _ job: JSON) async throws {
        let undo = try await site.call(.post, "/jobs/\(job["id"]?.number ?? 0)/undo")
        #expect(undo.status == 202, "\(undo.text)")
        while try await site.service.runner.step() {}
        #expect(try await numbers(site) == [.infinity, -.infinity], "\(undo.text)")
        #expect(try await rate(site) == "NaN", "\(undo.text)")
    }

    private static func rate(_ site: AppSite) async throws -> String? {
        let row = try await site.pool.query("SELECT rate::text FROM gauge WHERE _id = 'g'")
        return try row[0, 0].string
    }

    @Test("a bulk action that replaces an infinite number can be undone")
    func bulk() async throws {
        try await Self.run { site in
            let data = #"{"attributes": {"most": 5, "span": {"name": "t", "least": 6}, "rate": "7"}}"#
            let asked = try await site.call(
                .post, "/bulk/gauges", #"{"action": "update", "ids": ["g"], "data": \#(data)}"#)
            #expect(asked.status == 202, "\(asked.text)")
            while try await site.service.runner.step() {}
            #expect(try await Self.numbers(site) == [5, 6])
            #expect(try await Self.rate(site) == "7")
            try await Self.undo(site, asked.json)
            let read = try await site.call(.get, "/api/gauges/g").json["data"]?["attributes"]
            #expect(read?["most"] == .null, "JSON has finite numbers only")
        }
    }

    @Test("an import that changes other properties keeps an infinite number, and one that replaces it can be undone")
    func imported() async throws {
        try await Self.run { site in
            let part = try await site.load("id,span.name\ng,t\n", "text/csv", to: "gauges", #""mode": "update""#)
            #expect(part.job["done"] == 1, "\(part.rows)")
            #expect(try await Self.numbers(site) == [.infinity, -.infinity])
            try await Self.undo(site, part.job)
            let whole = try await site.load("id,most\ng,7\n", "text/csv", to: "gauges", #""mode": "update""#)
            #expect(whole.job["done"] == 1, "\(whole.rows)")
            #expect(try await Self.numbers(site) == [7, -.infinity])
            try await Self.undo(site, whole.job)
        }
    }
    @Test("what an export wrote can be imported unchanged, in every format", arguments: ["csv", "json", "ndjson"])
    func exported(format: String) async throws {
        try await Self.run { site in
            // PostgreSQL writes it with 201 digits.
            let large = #"{"data": {"type": "gauges", "id": "h", "attributes": {"name": "b", "rate": "1E+200"}}}"#
            let made = try await site.call(.post, "/api/gauges", large, type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
            let types = ["csv": "text/csv", "json": "application/json", "ndjson": "application/x-ndjson"]
            let type = try #require(types[format])
            let address = "/export/gauges?sort=id&format=\(format)"
            let export = try await site.call(.get, address)
            #expect(export.text.ranges(of: "Infinity").count == 3 && export.text.contains("NaN"), "\(export.text)")
            let same = try await site.load(export.text, type, to: "gauges", #""mode": "upsert""#)
            #expect(same.job["leftAlone"] == 2, "\(same.rows)")
            try await site.pool.execute("DELETE FROM gauge")
            let again = try await site.load(export.text, type, to: "gauges", #""mode": "create""#)
            #expect(again.job["done"] == 2, "\(again.rows)")
            #expect(try await site.call(.get, address).text == export.text)
        }
    }

    @Test("a number that is too large, and a number in quotes, are refused as before")
    func refused() async throws {
        try await Self.run { site in
            for (text, type) in [
                ("id,most\ng,1e999\n", "text/csv"), ("id,most\ng,0x10\n", "text/csv"),
                (#"[{"id": "g", "most": "12"}]"#, "application/json"),
            ] {
                let upload = try await site.call(.post, "/import/gauges", text, type: type)
                #expect(upload.status == 201, "\(upload.text)")
                let path = "/import/gauges/\(upload.json["job"]?["id"]?.number ?? 0)"
                let preview = try await site.call(.post, "\(path)/preview", #"{"mode": "update"}"#)
                #expect(preview.json["problems"]?.list.count == 1, "\(text): \(preview.text)")
            }
        }
    }
}
