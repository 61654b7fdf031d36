import Foundation
import PostgresClient
import RandomValues
import Synchronization
import TestSupport
import TomboloModel
import Testing

/// Two devices and plain-SQL writers edit the same rows while one process after another is killed. After each kill,
/// once everything runs again and is at rest: every device file equals the database, and every transaction that a
/// device made took effect exactly once.
@Suite(.serialized)
struct KillTests {
    private enum Victim: String, CaseIterable {
        case device
        case gateway
        case sequencer
        case database
    }

    /// What the rounds work on.
    private struct Stage: Sendable {
        let platform: Platform
        let devices: [DeviceProcess]
        /// Of each device, and the one that both add to.
        let counters: [ObjectId]
        let shared: ObjectId

        static func build(_ platform: Platform) async throws -> Stage {
            for _ in 0..<10 { try await platform.insertListing("shared") }
            for name in ["Ada", "Grace", "Edsger"] {
                try await platform.sql(
                    "INSERT INTO speaker (_id, event, name) VALUES ($1, $2, $3)",
                    [.bytea(ObjectId.generate().bytes), .bytea(platform.event.bytes), .text(name)])
            }
            for number in 1...4 {
                try await platform.sql(
                    "INSERT INTO session (_id, event, title, state) VALUES ($1, $2, $3, 'accepted')",
                    [.bytea(ObjectId.generate().bytes), .bytea(platform.event.bytes), .text("Talk \(number)")])
            }
            var counters: [ObjectId] = []
            for name in ["A", "B"] { counters.append(try await platform.insertListing("counter \(name)")) }
            let shared = try await platform.insertListing("counter of both")
            var devices: [DeviceProcess] = []
            for (index, name) in ["A", "B"].enumerated() {
                let device = try await platform.device(
                    name, of: "organizer", gateway: index % platform.gateways.count)
                try await device.ask("subscribe", "Event", "Listing", "Session", "Speaker")
                devices.append(device)
            }
            return Stage(platform: platform, devices: devices, counters: counters, shared: shared)
        }

        func edit(_ index: Int, seed: UInt64) async throws {
            try await devices[index].ask(
                "edit", "\(seed)", counters[index].stringValue, shared.stringValue)
        }

        /// Brings everything to rest and compares.
        func check(_ what: String) async throws {
            for device in devices { try await device.ask("rest") }
            try await platform.quiet(devices)
            let comparison = Comparison(platform: platform)
            for device in devices {
                for className in ["Listing", "Speaker", "Session", "Session.speakers"] {
                    let differences = try await comparison.differences(className, on: device)
                    #expect(differences == [], "\(what)")
                }
            }
            var total: Int64 = 0
            for (device, counter) in zip(devices, counters) {
                let rows = try await platform.sql(
                    "SELECT encode(_id, 'hex') FROM listing WHERE location = $1", [.text("made by \(counter)")])
                let present = Set(try rows.map { try $0[0].string })
                let missing = device.made.withLock { $0.subtracting(present) }
                #expect(missing == [], "\(what): edits of device \(device.name) are not in the database")
                let additions = try await platform.sql(
                    "SELECT price FROM listing WHERE _id = $1", [.bytea(counter.bytes)])
                #expect(
                    try additions[0, 0].int64 == Int64(present.count),
                    "\(what): additions of device \(device.name) against its new rows")
                total += Int64(present.count)
            }
            let both = try await platform.sql("SELECT price FROM listing WHERE _id = $1", [.bytea(shared.bytes)])
            #expect(try both[0, 0].int64 == total, "\(what): additions of both devices against their new rows")
        }

        /// Waits until a device has made so many more edits, so that there is something to interrupt.
        func untilEdited(_ index: Int, more count: Int) async throws {
            let before = devices[index].made.withLock { $0.count }
            try await platform.eventually("\(count) more edits of device \(devices[index].name)") {
                devices[index].made.withLock { $0.count } >= before + count
            }
        }
    }

    private static var isLong: Bool { ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" }

    @Test
    func `Killed at any moment, no process makes a device differ from the database, or loses or repeats an edit`()
        async throws
    {
        var generator = SeededGenerator.printed(for: "kill rounds")
        let victims = Victim.allCases.flatMap { Array(repeating: $0, count: Self.isLong ? 100 : 20) }
            .shuffled(using: &generator)
        // Two numbers for each round: who of two, and when; and two seeds for the devices.
        let numbers = victims.map { _ in
            (
                which: Int.random(in: 0..<2, using: &generator), edits: Int.random(in: 1..<25, using: &generator),
                pause: Int.random(in: 0..<60, using: &generator), seed: generator.next()
            )
        }
        let cluster = try await TestCluster.start()
        try await Platform.with(cluster: cluster, gateways: 2) { platform in
            let stage = try await Stage.build(platform)
            try await stage.check("before the first round")
            for (round, victim) in victims.enumerated() {
                let (which, edits, pause, seed) = numbers[round]
                let writers = PlainWriters(platform.configuration, event: platform.event, count: 2)
                for index in stage.devices.indices { try await stage.edit(index, seed: seed &+ UInt64(index)) }
                try await stage.untilEdited(which, more: edits)
                // Not to wait for anything: to hit different moments.
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
            let stage = try await Stage.build(platform)
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
            let stage = try await Stage.build(platform)
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
            let stage = try await Stage.build(platform)
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
            let subscribing = Task { try? await device.ask("subscribe", "Listing") }
            try await platform.eventually("a staged frame") {
                try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged") > 0
            }
            try await device.signal(SIGSTOP)
            let staged = try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged")
            let applied = try DeviceFile(device.file).integer("SELECT count(*) FROM listing")
            try await device.kill9()
            _ = await subscribing.value
            #expect(staged > 0 && applied == 0, "\(staged) frames staged, \(applied) rows applied")
            try await device.start()
            try await platform.quiet([device])
            #expect(try await Comparison(platform: platform).differences("Listing", on: device) == [])
            #expect(try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged") == 0)
            try await device.kill9()
        }
    }
}
