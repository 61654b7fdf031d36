import Foundation
import PostgresClient
import RandomValues
import Synchronization
import TestSupport
import TomboloModel
import Testing

/// Two devices and plain-SQL writers edit the same rows while one process after another is killed. After each kill,
/// once everything runs again and is at rest, every device file equals the database, and every transaction of a device
/// has taken effect exactly once.
@Suite(.serialized)
struct KillTests {
    private enum Victim: String, CaseIterable {
        case device
        case gateway
        case sequencer
        case database
    }

    private static var isLong: Bool { ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" }

    @Test
    func `Killed at any moment, no process makes a device differ from the database, or loses or repeats an edit`()
        async throws
    {
        var generator = SeededGenerator.printed(for: "kill rounds")
        let victims = Victim.allCases.flatMap { Array(repeating: $0, count: Self.isLong ? 100 : 20) }
            .shuffled(using: &generator)
        // For each round: which of two to kill, after how many edits, a pause, and a seed for the devices.
        let numbers = victims.map { _ in
            (
                which: Int.random(in: 0..<2, using: &generator), edits: Int.random(in: 1..<25, using: &generator),
                pause: Int.random(in: 0..<60, using: &generator), seed: generator.next()
            )
        }
        let cluster = try await TestCluster.start()
        try await Platform.with(cluster: cluster, gateways: 2) { platform in
            let stage = try await EditedPlatform.build(platform)
            try await stage.check("before the first round")
            for (round, victim) in victims.enumerated() {
                let (which, edits, pause, seed) = numbers[round]
                let writers = PlainWriters(platform.configuration, event: platform.event, count: 2)
                for index in stage.devices.indices { try await stage.edit(index, seed: seed &+ UInt64(index)) }
                try await stage.untilEdited(which, more: edits)
                // Waits for nothing in particular, only to hit different moments.
                try await Task.sleep(for: .milliseconds(pause))
                switch victim {
                case .device:
                    try await stage.devices[which].kill9()
                    try await stage.devices[which].start()
                case .gateway:
                    try await platform.gateways[which].kill9()
                    try await platform.gateways[which].start()
                case .sequencer:
                    try await platform.sequencer.kill9()
                    try await platform.sequencer.start()
                case .database:
                    try await cluster.kill9()
                    try await cluster.restart()
                }
                await writers.stop()
                try await stage.check("round \(round + 1), \(victim.rawValue) killed")
            }
            for device in stage.devices { try await device.kill9() }
        }
        await cluster.remove()
    }

    @Test
    func `Killed between writing and committing an upload, everyone recovers with the edit applied once`()
        async throws
    {
        let cluster = try await TestCluster.start()
        try await Platform.with(cluster: cluster, gateways: 2) { platform in
            let stage = try await EditedPlatform.build(platform)
            for victim in [Victim.device, .gateway, .database] {
                let lock = try await PostgresConnection.connect(platform.configuration)
                try await lock.execute("BEGIN; LOCK TABLE listing IN SHARE ROW EXCLUSIVE MODE")
                try await stage.edit(0, seed: 1)
                try await platform.eventually("an upload that waits for the locked table") {
                    try await platform.count(
                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'listing'::regclass") > 0
                }
                try await stage.devices[0].ask("rest")
                switch victim {
                case .device: try await stage.devices[0].kill9()
                case .gateway: try await platform.gateways[0].kill9()
                case .sequencer, .database: try await cluster.kill9()
                }
                await lock.close()
                switch victim {
                case .device: try await stage.devices[0].start()
                case .gateway: try await platform.gateways[0].start()
                case .sequencer, .database: try await cluster.restart()
                }
                try await stage.check("\(victim.rawValue) killed between written and committed")
            }
            for device in stage.devices { try await device.kill9() }
        }
        await cluster.remove()
    }

    @Test
    func `Killed between committing an upload and acknowledging it, everyone recovers with the edit applied once`()
        async throws
    {
        let cluster = try await TestCluster.start()
        try await Platform.with(cluster: cluster, gateways: 2) { platform in
            let stage = try await EditedPlatform.build(platform)
            for victim in Victim.allCases {
                // Without ticks nothing is acknowledged.
                try await platform.sequencer.signal(SIGSTOP)
                let before = try await platform.count(
                    "SELECT count(*) FROM listing WHERE location LIKE 'made by %'")
                try await stage.edit(0, seed: 2)
                try await platform.eventually("an upload that is committed") {
                    try await platform.count("SELECT count(*) FROM listing WHERE location LIKE 'made by %'") > before
                }
                try await stage.devices[0].ask("rest")
                switch victim {
                case .device:
                    try await stage.devices[0].kill9()
                    try await stage.devices[0].start()
                case .gateway:
                    try await platform.gateways[0].kill9()
                    try await platform.gateways[0].start()
                case .sequencer:
                    try await platform.sequencer.kill9()
                    try await platform.sequencer.start()
                case .database:
                    try await cluster.kill9()
                    try await cluster.restart()
                }
                if victim != .sequencer { try await platform.sequencer.signal(SIGCONT) }
                try await stage.check("\(victim.rawValue) killed between committed and acknowledged")
            }
            for device in stage.devices { try await device.kill9() }
        }
        await cluster.remove()
    }

    @Test
    func `A gateway killed between a tick's commit and its sending is replaced without a loss`() async throws {
        try await Platform.with(gateways: 2) { platform in
            let stage = try await EditedPlatform.build(platform)
            try await platform.gateways[0].signal(SIGSTOP)
            let listing = try await platform.insertListing("while it stood still")
            try await platform.eventually("the tick on the other gateway's device") {
                try DeviceFile(stage.devices[1].file).has("listing", listing)
            }
            #expect(try !DeviceFile(stage.devices[0].file).has("listing", listing))
            try await platform.gateways[0].kill9()
            try await platform.gateways[0].start()
            try await stage.check("gateway killed between tick committed and sent")
            for device in stage.devices { try await device.kill9() }
        }
    }

    @Test
    func `A device killed between staging a batch and applying it gets it whole`() async throws {
        try await Platform.with { platform in
            try await platform.sql(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), repeat(md5(n::text), 8), n, 1
                FROM generate_series(1, 60000) AS n
                """)
            let device = try await platform.device("A", of: "attendee")
            // Read after the listings, because the batch doesn't end before the device is killed.
            let lock = try await PostgresConnection.connect(platform.configuration)
            try await lock.execute("BEGIN; LOCK TABLE session_speakers IN ACCESS EXCLUSIVE MODE")
            let subscribing = Task { try? await device.ask("subscribe", "Listing", "Session") }
            try await platform.eventually("a staged frame") {
                try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged") > 0
            }
            let applied = try DeviceFile(device.file).integer("SELECT count(*) FROM listing")
            try await device.kill9()
            _ = await subscribing.value
            await lock.close()
            #expect(applied == 0)
            try await device.start()
            try await platform.quiet([device])
            #expect(try await Comparison(platform: platform).differences("Listing", on: device) == [])
            #expect(try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged") == 0)
            try await device.kill9()
        }
    }
}
