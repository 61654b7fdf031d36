import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloPostgresStore

@testable import AdminService

@Suite("The request log is read page by page")
struct RequestReadingTests {
    typealias Site = KeptRequestsSite

    @Test("filters find the same requests in memory and in the database")
    func filters() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let users = [ObjectId.generate(), ObjectId.generate()]
            var entries: [RequestLog.Entry] = []
            for (number, status) in [200, 303, 399, 400, 404, 499, 500, 503].enumerated() {
                for (place, took) in [Duration.milliseconds(999), .seconds(1)].enumerated() {
                    let index = entries.count
                    entries.append(
                        Site.entry(
                            index, time: 1_778_749_200_000_000 + Int64(index),
                            method: index % 3 == 0 ? "POST" : "GET",
                            route: [nil, "/panel/data/{collection}", "/panel", "/api/%_"][index % 4], status: status,
                            took: took, user: index % 3 == 2 ? nil : users[(number + place) % 2],
                            address: "192.0.2.\(index % 2)"))
                }
            }
            try await site.writer.write(entries, 0)
            var filters: [RequestFilter] = RequestLog.Kind.allCases.map { kind in
                var filter = RequestFilter()
                filter.kind = kind
                return filter
            }
            func add(_ change: (inout RequestFilter) -> Void) {
                var filter = RequestFilter()
                change(&filter)
                filters.append(filter)
            }
            add { $0.method = "POST" }
            for route in ["/panel", "/panel/data", "/api/%", "%", "panel"] { add { $0.route = route } }
            add { $0.user = .account(users[1]) }
            add { $0.user = .unknown }
            add { $0.address = "192.0.2.1" }
            add { $0.requestID = "r7" }
            add { ($0.kind, $0.method, $0.address) = (.failed, "GET", "192.0.2.0") }
            for filter in filters {
                let found = try await site.kept.page(filter, since: 0)
                #expect(
                    found.entries.map { $0.entry } == entries.filter(filter.matches).reversed() && found.next == nil,
                    "\(filter)")
                #expect(found.entries.allSatisfy { $0.server == site.kept.server })
            }
            add { $0.server = site.kept.server }
            #expect(try await site.kept.page(filters[filters.count - 1], since: 0).entries.count == entries.count)
            add { $0.server = "another" }
            #expect(try await site.kept.page(filters[filters.count - 1], since: 0).entries.isEmpty)
            #expect(try await site.kept.page(RequestFilter(), since: 1_778_749_200_000_014).entries.count == 2)
        }
    }

    @Test("each page continues where the one before ended, even among requests of the same moment")
    func pages() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let count = 2 * KeptRequests.pageSize + 50
            try await site.writer.write((0..<count).map { Site.entry($0) }, 0)
            var ids: [String] = []
            var sizes: [Int] = []
            var after: RequestCursor?
            repeat {
                let page = try await site.kept.page(RequestFilter(), since: 0, after: after)
                ids += page.entries.map { $0.entry.requestID }
                sizes.append(page.entries.count)
                after = try page.next.map { try #require(RequestCursor($0.text)) }
            } while after != nil && sizes.count < 10
            #expect(sizes == [100, 100, 50])
            #expect(ids == (0..<count).reversed().map { "r\($0)" })
        }
    }

    @Test("requests are counted by time interval, including intervals without any")
    func spans() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let hour: Int64 = 3_600_000_000
            let start = 494_096 * hour
            try await site.writer.write(
                [
                    Site.entry(0, time: start - 1), Site.entry(1, time: start, status: 404),
                    Site.entry(2, time: start + hour - 1), Site.entry(3, time: start + 2 * hour, status: 500),
                    Site.entry(4, time: start + 9 * hour),
                ], 0)
            let spans = try await site.kept.spans(
                RequestFilter(), since: start + 5, now: start + 2 * hour + 7, width: 3_600)
            #expect(
                spans == [
                    RequestSpan(start: start, requests: 2, refused: 1), RequestSpan(start: start + hour),
                    RequestSpan(start: start + 2 * hour, requests: 1, failed: 1),
                ])
            var filter = RequestFilter()
            filter.kind = .failed
            let failed = try await site.kept.spans(filter, since: start, now: start + 2 * hour, width: 86_400)
            #expect(failed.map(\.failed).reduce(0, +) == 1 && failed.allSatisfy { $0.start % Site.day == 0 })
        }
    }

    @Test("the log and the index agree on what counts as slow")
    func slow() {
        #expect(RequestLog.slowDuration == .microseconds(NotableRequest.slowMicroseconds))
    }

    @Test(
        "anything but a cursor from a page is refused",
        arguments: ["", "1", "1.", ".1", "1.2.3", "-1.2", "1.-2", "x.1", "1.x"])
    func cursor(text: String) {
        #expect(RequestCursor(text) == nil)
        #expect(RequestCursor("17.4")?.text == "17.4")
    }
}
