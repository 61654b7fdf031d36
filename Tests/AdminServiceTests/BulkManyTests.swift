import Foundation
import HTTPTypes
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP

@testable import TomboloJSONAPI

@Suite("Bulk actions on thousands of resources")
struct BulkManyTests {
    private static let count = ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" ? 48_213 : 10_000

    @Test(
        "all matches are counted and changed once each, in batches; a cancelled undo keeps what it has done"
    )
    func many() async throws {
        try await BulkTests.run { site in
            try await site.addTickets(Self.count)
            let trial = try await site.call(
                .post, BulkTests.all, as: "owner", body: BulkTests.price(7, #""dryRun": true"#))
            #expect(trial.status == 200 && trial.json["count"] == .int(Int64(Self.count)), "\(trial.text)")
            let version = try #require(trial.json["version"]?.text)
            let asked = try await site.call(
                .post, BulkTests.all, as: "owner",
                body: BulkTests.price(7, #""expect": {"count": \#(Self.count), "version": "\#(version)"}"#))
            #expect(asked.status == 202 && asked.json["total"] == .int(Int64(Self.count)), "\(asked.text)")
            let id = asked.json["id"]?.number ?? 0
            var (batches, done) = (0, 0)
            while try await site.runner.step() {
                let now = try await site.count("SELECT done FROM tombolo.job WHERE id = \(id)")
                #expect(now == min(done + JobRunner.batchSize, Self.count))
                (batches, done) = (batches + 1, now)
            }
            #expect(done == Self.count)
            #expect(batches == (Self.count + JobRunner.batchSize - 1) / JobRunner.batchSize)
            let over = try await site.job(asked, as: "owner")
            #expect(over.json["state"] == "done" && over.json["refused"] == 0 && over.json["leftAlone"] == 0)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == Self.count)
            #expect(
                try await site.count(
                    "SELECT count(DISTINCT key) FROM tombolo.job_row WHERE job = \(id) AND outcome = 'd'")
                    == Self.count)

            let undo = try await site.call(.post, "/jobs/\(id)/undo", as: "owner")
            #expect(undo.json["total"] == .int(Int64(Self.count)), "\(undo.text)")
            for _ in 0..<3 { #expect(try await site.runner.step()) }
            let cancelled = try await site.call(
                .post, "/jobs/\(undo.json["id"]?.number ?? 0)/cancel", as: "owner")
            #expect(cancelled.json["state"] == "cancelled", "\(cancelled.text)")
            try await site.work()
            let undone = 3 * JobRunner.batchSize
            #expect(try await site.job(undo, as: "owner").json["done"] == .int(Int64(undone)))
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 100 AND name LIKE 'n%'") == undone)
            #expect(try await site.count("SELECT count(*) FROM ticket WHERE price = 7") == Self.count - undone)
        }
    }
}
