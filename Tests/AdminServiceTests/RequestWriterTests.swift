import HTTPTypes
import HummingbirdTesting
import Logging
import PostgresClient
import ServiceLifecycle
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@testable import AdminService

@Suite("Admin servers write their requests to the database in batches")
struct RequestWriterTests {
    typealias Site = KeptRequestsSite

    @Test("a request is logged with its route and its user, but without the values in its address")
    func requests() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let app = buildAdminApplication(
                host: "127.0.0.1", port: 0, pool: fixture.adminServer.pool, rules: LiveRules(fixture.rules),
                authenticator: fixture.adminServer.authenticator, keptRequests: site.kept)
            let session = fixture.sessions[0].stringValue
            try await app.test(.router) { client in
                let call = ServiceTestSupport.Caller(client, fixture)
                let answer = try await call(.get, "/api/sessions/\(session)?token=hunter2", as: "owner")
                let id = try #require(answer.headers[HTTPField.Name("X-Request-Id")!])
                _ = try await call(.get, "/no/such/place/as/hunter2?secret=hunter2")
                _ = try await call(.get, "/health")
                await site.writeAll()
                let rows = try await fixture.pool.query(
                    """
                    SELECT request_id, method, route, status, encode(user_id, 'hex'), server, took_microseconds,
                        to_jsonb(e)::text FROM tombolo.request_entry e ORDER BY at, id
                    """)
                #expect(rows.count == 2)
                #expect(try rows[0][0].string == id && rows[0][1].string == "GET")
                #expect(try rows[0][2].string.contains("{id}") && rows[0][3].int == answer.status)
                #expect(try rows[0][4].string == fixture.users["owner"]?.stringValue)
                #expect(try rows[0][5].string == site.kept.server && rows[0][6].int64 > 0)
                let unknown = try (rows[1][2].nonNull?.string, rows[1][3].int, rows[1][4].nonNull?.string)
                #expect(unknown == (nil, 404, nil))
                for row in rows {
                    let text = try row[7].string
                    #expect(!text.contains("hunter2") && !text.contains(session), "\(text)")
                }
            }
        }
    }

    @Test("a batch written twice, because the first success went unnoticed, counts once")
    func twice() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let batch = [Site.entry(1), Site.entry(2)]
            for _ in 0..<2 { try await site.writer.write(batch, 7) }
            #expect(try await site.written() == ["r1", "r2"])
        }
    }

    @Test("while the database is unreachable, a bounded number of requests waits, and one warning is logged")
    func unreachable() async throws {
        try await ServiceFixture.with { fixture in
            let pool = PostgresPool(
                configuration: fixture.adminServer.pool.configuration,
                options: .init(maximumConnections: 1, acquireTimeout: .milliseconds(100)))
            let site = try Site(fixture, pool: pool)
            let capacity = KeptRequests.queueCapacity
            try await pool.withConnection { _ in
                site.kept.log.add(Site.entry(0))
                let first = await site.writer.writeAll()
                for number in 1...(capacity + 5) { site.kept.log.add(Site.entry(number)) }
                let second = await site.writer.writeAll()
                #expect(!first && !second && site.kept.log.droppedCount == 5)
            }
            await site.writeAll()
            let written = try await site.written()
            #expect(written.count == capacity + 1)
            #expect(Set(written) == Set((0...capacity).map { "r\($0)" }))
            #expect(site.lines.text.count { $0.hasPrefix("warning") } == 1, "\(site.lines.text)")
            #expect(site.lines.text.last == "info Requests are written to the log again.")
            await pool.shutdown()
        }
    }

    @Test("requests that the database refuses are dropped and counted, so they don't hold up others")
    func refused() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            try await fixture.pool.execute("ALTER TABLE tombolo.request_entry RENAME TO elsewhere")
            site.kept.log.add(Site.entry(1))
            await site.writeAll()
            #expect(site.kept.log.droppedCount == 1)
            try await fixture.pool.execute("ALTER TABLE tombolo.elsewhere RENAME TO request_entry")
            site.kept.log.add(Site.entry(2))
            await site.writeAll()
            #expect(try await site.written() == ["r2"])
            #expect(site.lines.text.count { $0.hasPrefix("warning") } == 1, "\(site.lines.text)")
        }
    }

    @Test("the last requests are written on shutdown")
    func shutdown() async throws {
        try await ServiceFixture.with { fixture in
            let site = try Site(fixture)
            let service = RequestWriterService(site.kept, logger: site.lines.logger)
            let services = ServiceGroup(services: [service], logger: Logger(label: "test"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await services.run() }
                site.kept.log.add(Site.entry(1))
                while try await site.written().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
                site.kept.log.add(Site.entry(2))
                await services.triggerGracefulShutdown()
                try await group.waitForAll()
            }
            #expect(try await site.written() == ["r1", "r2"])
        }
    }
}
