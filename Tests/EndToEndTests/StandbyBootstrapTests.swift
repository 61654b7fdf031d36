import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloPostgresStore

/// A gateway process that reads bootstraps from a hot standby.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct StandbyBootstrapTests {
    @Test("devices get every row, whether the standby is there, paused, killed during a read, or gone")
    func devices() async throws {
        let cluster = try await TestCluster.start()
        let standby = try await cluster.startStandby()
        let socket = standby.configuration.keywords["host"] ?? ""
        try await Platform.with(cluster: cluster, standbyFolder: socket) { platform in
            try await platform.sql(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), repeat(md5(n::text), 8), n, 1
                FROM generate_series(1, 60000) AS n
                """)
            let comparison = Comparison(platform: platform)
            // The gateway doesn't wait for a standby that is too slow, but the test does.
            var patient = standby.copy(of: platform.configuration)
            patient.connectTimeout = platform.configuration.connectTimeout
            let copy = patient
            func sessions() async throws -> Int {
                let connection = try await PostgresConnection.connect(copy)
                let count = try await connection.query(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                    AND pid <> pg_backend_pid()
                    """)[0, 0].int
                await connection.close()
                return count
            }

            // Running: wait until the gateway has connected to it. If the standby is too slow, the gateway does without
            // it and tries again later.
            var early: [DeviceProcess] = []
            while true {
                let device = try await platform.device("early-\(early.count)", of: "attendee")
                early.append(device)
                try await device.ask("subscribe", "Listing")
                try await platform.quiet([device])
                #expect(try await comparison.differences("Listing", on: device) == [])
                if try await sessions() > 0 { break }
                try await Task.sleep(for: PostgresStandby.restAfterFailure)
            }

            // Paused: changes committed since then come from the primary.
            let connection = try await PostgresConnection.connect(copy)
            try await connection.execute("SELECT pg_wal_replay_pause()")
            try await platform.insertListing("while it stands still")
            let second = try await platform.device("second", of: "attendee")
            try await second.ask("subscribe", "Listing")
            try await platform.quiet([second])
            #expect(try await comparison.differences("Listing", on: second) == [])
            try await connection.execute("SELECT pg_wal_replay_resume()")
            await connection.close()

            // Killed while a device stages its download. The gateway may or may not be using the standby at that
            // moment.
            let third = try await platform.device("third", of: "attendee")
            let subscribing = Task { try await third.ask("subscribe", "Listing") }
            try await platform.eventually("a staged frame, or all") {
                try DeviceFile(third.file).integer(
                    "SELECT (SELECT count(*) FROM tombolo_staged) + (SELECT count(*) FROM listing)") > 0
            }
            try await standby.kill9()
            _ = try await subscribing.value
            try await platform.quiet([third])
            #expect(try await comparison.differences("Listing", on: third) == [])

            // Gone.
            let fourth = try await platform.device("fourth", of: "attendee")
            try await fourth.ask("subscribe", "Listing")
            try await platform.quiet([fourth])
            #expect(try await comparison.differences("Listing", on: fourth) == [])
            for device in early + [second, third, fourth] { try await device.kill9() }
        }
        await standby.remove()
        await cluster.remove()
    }
}
