import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloMigration
import TomboloModel

@testable import AdminService
@testable import TomboloJSONAPI

@Suite("Jobs can restore numbers that JSON doesn't have")
struct InfiniteNumberTests {
    final class Gauge: Object {
        @Persisted(primaryKey: true) var _id: String
        @Persisted var name: String
        @Persisted var most: Double
        @Persisted var span: GaugeSpan?
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
            let attributes = #"{"name": "a", "most": 1, "span": {"name": "s", "least": 2}}"#
            let made = try await site.call(
                .post, "/api/gauges", #"{"data": {"type": "gauges", "id": "g", "attributes": \#(attributes)}}"#,
                type: "application/vnd.api+json")
            #expect(made.status == 201, "\(made.text)")
            try await site.pool.execute("UPDATE gauge SET most = 'Infinity', span_least = '-Infinity'")
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
    }

    @Test("a bulk action that replaces an infinite number can be undone")
    func bulk() async throws {
        try await Self.run { site in
            let data = #"{"attributes": {"most": 5, "span": {"name": "t", "least": 6}}}"#
            let asked = try await site.call(
                .post, "/bulk/gauges", #"{"action": "update", "ids": ["g"], "data": \#(data)}"#)
            #expect(asked.status == 202, "\(asked.text)")
            while try await site.service.runner.step() {}
            #expect(try await Self.numbers(site) == [5, 6])
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
}
