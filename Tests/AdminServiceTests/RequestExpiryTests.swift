import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore

@testable import AdminService

@Suite("One of the servers deletes old requests from the log")
struct RequestExpiryTests {
    typealias Site = KeptRequestsSite

    @Test("requests older than the limit in days are deleted first, then those above the maximum count, in batches")
    func expiry() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let pool = fixture.adminServer.pool
            let now: Int64 = 1_778_749_200_000_000
            let ages =
                [Int64](repeating: 6 * Site.day, count: 7) + [5 * Site.day + 1, 5 * Site.day, Site.day, 60, 60, 1]
            try await site.writer.write(ages.enumerated().map { Site.entry($0.offset, time: now - $0.element) }, 0)
            func run(days: Int = 5, maximumRowCount: Int = 100) async throws -> Int {
                try await RequestExpiry(
                    RequestRetention(days: days), pool: pool, maximumRowCount: maximumRowCount, batchSize: 3
                ).run(now: now)
            }
            #expect(try await run() == 8)
            #expect(try await site.written() == ["r8", "r9", "r10", "r11", "r12"])
            #expect(try await run() == 0)
            #expect(try await run(maximumRowCount: 2) == 3)
            #expect(try await site.written() == ["r11", "r12"])
            #expect(try await run(days: 0) == 2)
            #expect(try await site.written().isEmpty)
        }
    }

    @Test("only one server makes a run that is due, and the run is recorded")
    func election() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let service = RequestExpiryService(
                RequestRetention(), pool: fixture.adminServer.pool, logger: site.lines.logger)
            func runs() async throws -> Int {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await Routine.requestExpiry.runIfDue(
                                every: RequestExpiryService.pause, in: fixture.adminServer.pool, service.expire)
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            #expect(try await runs() == 1)
            #expect(try await runs() == 0)
            try await fixture.pool.query("UPDATE tombolo.routine SET next_at = now() - interval '1 s'")
            try await site.writer.write([Site.entry(1, time: Date().microsecondsSince1970 - 6 * Site.day)], 0)
            #expect(try await runs() == 1)
            let works = try await Schedule(fixture.adminServer.pool).works(now: Date().microsecondsSince1970)
            let work = try #require(works.first { $0.kind == .requestExpiry })
            #expect(work.result == "1 request was deleted" && work.problem == nil && work.nextAt != nil)
        }
    }

    @Test("the number of days comes from a variable")
    func variable() throws {
        #expect(try RequestRetention.ofEnvironment([:]).days == 5)
        for (text, days) in [("", 5), ("0", 0), ("1", 1), ("90", 90)] {
            #expect(try RequestRetention.ofEnvironment(["TOMBOLO_REQUEST_LOG_DAYS": text]).days == days)
        }
        for text in ["91", "-1", "five", "1.5"] {
            #expect {
                _ = try RequestRetention.ofEnvironment(["TOMBOLO_REQUEST_LOG_DAYS": text])
            } throws: { "\($0)".contains("TOMBOLO_REQUEST_LOG_DAYS is '\(text)'") }
        }
    }
}
