import ChildPrograms
import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel

/// PgBouncer between the programs and PostgreSQL.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct PoolerTests {
    /// One device writes and another receives, then both receive a listing that plain SQL writes.
    private static func exchange(_ platform: Platform) async throws {
        let writer = try await platform.device("writer", of: "organizer")
        let reader = try await platform.device("reader", of: "attendee")
        for device in [writer, reader] { try await device.ask("subscribe", "Listing") }
        for _ in 0..<10 {
            let id = ObjectId.generate()
            try await writer.ask("create", "Listing", id.stringValue, "location=s:here")
            try await platform.eventually("the listing on device reader") {
                try DeviceFile(reader.file).has("listing", id)
            }
        }
        try await platform.quiet([writer, reader])
        #expect(try await reader.ask("problems") == "")
        for device in [writer, reader] { try await device.kill9() }
    }

    @Test("in session mode gateways and the sequencer work as without a pooler, and a standby replaces a sequencer")
    func sessionMode() async throws {
        let cluster = try await TestCluster.shared()
        try await TestPooler.with(.session, before: cluster) { pooler in
            let poolers = Platform.Poolers(gateways: pooler.folder, sequencer: pooler.folder)
            try await Platform.with(poolers: poolers) { platform in
                try await Self.exchange(platform)
                let messages = try String(contentsOf: platform.gateways[0].messages, encoding: .utf8)
                #expect(messages.contains("behind a connection pooler in session mode"), "\(messages)")

                // Killed, then frozen: PostgreSQL ends the sequencer's sessions, even those that the pooler keeps.
                try await platform.standby.start()
                try await platform.sequencer.kill9()
                let device = try await platform.device("A", of: "organizer")
                try await device.ask("subscribe", "Listing")
                try await platform.quiet([device])
                try await platform.sequencer.start()
                try await platform.standby.signal(SIGSTOP)
                try await platform.quiet([device])
                try await platform.standby.signal(SIGCONT)
                try await platform.quiet([device])
                try await device.kill9()
            }
        }
    }

    @Test(
        "in transaction mode gateways work if they learn of ticks over Redis and the sequencer connects directly")
    func transactionMode() async throws {
        let cluster = try await TestCluster.shared()
        try await TestRedis.with { redis in
            try await TestPooler.with(.transaction, before: cluster) { pooler in
                let ticks = ["TOMBOLO_TICKS_URL": redis.address]
                try await Platform.with(
                    poolers: Platform.Poolers(gateways: pooler.folder), settings: ticks, sequencerSettings: ticks
                ) { platform in
                    try await Self.exchange(platform)
                    let messages = try String(contentsOf: platform.gateways[0].messages, encoding: .utf8)
                    #expect(messages.contains("in transaction mode, so prepared statements aren't kept"), "\(messages)")
                    // PostgreSQL quotes the name of a statement that it misses, or has twice.
                    #expect(!messages.contains("prepared statement \""), "\(messages)")
                }
            }
        }
    }

    @Test(
        "in transaction mode a program that needs a session of its own exits at its start and says what to do",
        arguments: [
            ("sync-gateway", "SyncGateway", ["--no-sequencer", "--port", "0"], ["TOMBOLO_TICKS_URL"]),
            ("sync-gateway", "SyncGateway", ["--sequencer-only"], ["sequencer", "pool_mode = session"]),
            ("sync-gateway", "SyncGateway", ["--port", "0"], ["TOMBOLO_TICKS_URL", "--no-sequencer"]),
            ("sync-gateway", "SyncGateway", ["--no-sequencer", "--development"], ["Development mode"]),
            ("admin-server", "AdminServer", ["--port", "0"], ["LISTEN", "pool_mode = session"]),
            ("tombolo", "TomboloDevelopment", ["--quiet"], ["sequencer", "LISTEN"]),
            ("migration-tool", "MigrationTool", ["status"], ["Connect to PostgreSQL directly"]),
            ("migration-tool", "MigrationTool", ["user", "disable", "nobody@example.org"], ["directly"]),
        ])
    func refusals(program: String, product: String, arguments: [String], expected: [String]) async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        try await TestPooler.with(.transaction, before: cluster) { pooler in
            let outcome = try await BuiltProgram(program, product).run(
                arguments,
                environment: [
                    "TOMBOLO_DATABASE_URL": "host=\(pooler.folder) port=5432 user=postgres "
                        + "dbname=\(database.database ?? "")",
                    "TOMBOLO_JWT_SECRET": Platform.secret, "TOMBOLO_GATEWAY_PORT": "0", "TOMBOLO_ADMIN_PORT": "0",
                ])
            #expect(outcome.status != 0)
            #expect(outcome.messages.contains("connection pooler in transaction mode"), "\(outcome.messages)")
            for text in expected { #expect(outcome.messages.contains(text), "\(outcome.messages)") }
        }
    }
}
