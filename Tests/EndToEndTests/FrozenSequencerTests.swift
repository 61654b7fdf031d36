import Foundation
import PostgresClient
import Testing
import TomboloChangesets

/// The elected sequencer is frozen, as by SIGSTOP, a paused virtual machine or a network failure: its connections stay
/// open, but it sends nothing.
@Suite(.serialized)
struct FrozenSequencerTests {
    private static let epoch = "SELECT epoch FROM tombolo.sequencer"
    private static let sessions = """
        FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tombolo-sequencer'
        """

    /// A condition for the session whose activity proves that the sequencer is alive.
    private static let holdsLock = """
        pid IN (SELECT pid FROM pg_locks WHERE granted AND relation = 'tombolo.sequencer_lock'::regclass)
        """

    private func startStandby(_ platform: Platform) async throws {
        try await platform.eventually("the first tick") { try await platform.count(Self.latest) > 0 }
        let elected = Set(try await pids(platform))
        try await platform.standby.start()
        // Its only session is the one that waits for the lock.
        try await platform.eventually("the standby's session") {
            try await !Set(pids(platform)).subtracting(elected).isEmpty
        }
    }

    private static let latest = "SELECT coalesce(max(number), 0) FROM tombolo.tick"

    private func pids(_ platform: Platform, _ condition: String = "true") async throws -> [Int64] {
        try await platform.sql("SELECT pid \(Self.sessions) AND \(condition)").map { try $0[0].int64 }
    }

    /// Expects that tick numbers have no gaps, and that no tick loses sight of anything its predecessor saw.
    private func checkOrder(_ platform: Platform) async throws {
        let ticks = try await platform.sql("SELECT number, snapshot::text FROM tombolo.tick ORDER BY number").map {
            (number: try $0[0].int64, snapshot: try #require(Snapshot(text: try $0[1].string)))
        }
        for (older, newer) in zip(ticks, ticks.dropFirst()) {
            #expect(newer.number == older.number + 1)
            #expect(newer.snapshot.xmax >= older.snapshot.xmax, "tick \(newer.number) goes back")
            #expect(
                newer.snapshot.running.allSatisfy { $0 >= older.snapshot.xmax || older.snapshot.running.contains($0) },
                "tick \(newer.number) doesn't see everything that tick \(older.number) sees")
        }
    }

    private func messages(_ server: Server) -> String {
        (try? String(contentsOf: server.messages, encoding: .utf8)) ?? ""
    }

    /// How often a server reported losing its lease, or losing a connection and the lease with it.
    private func resignations(_ server: Server) -> Int {
        messages(server).split(separator: "\n").count {
            $0.contains("tands for election again") || $0.contains("Restarting the sequencer")
        }
    }

    /// A process that wasn't frozen lost its lease because it got no processor time, so there were other elections than
    /// the test intended.
    private struct Disturbance: Error {
        let elections: Int64
    }

    /// Runs a test again if it was disturbed. If there are too many elections for any other reason, that happens every
    /// time.
    private func undisturbed(_ body: () async throws -> Void) async throws {
        for attempt in 1...6 {
            do {
                return try await body()
            } catch let disturbance as Disturbance {
                guard attempt < 6 else {
                    throw EndToEndFailure("There were \(disturbance.elections) elections, and too many six times.")
                }
                print("frozen sequencer: again, after \(disturbance.elections) elections")
            }
        }
    }

    /// - Throws: ``Disturbance`` if the number of elections since the platform was made is another one.
    private func expectElections(_ count: Int64, _ platform: Platform) async throws {
        let found = try await platform.count(Self.epoch)
        guard found != count else { return }
        try await checkOrder(platform)
        throw Disturbance(elections: found)
    }

    @Test
    func `Devices go on receiving while the elected sequencer is frozen, and after it comes back`() async throws {
        try await undisturbed { try await freezeInTurn() }
    }

    private func freezeInTurn() async throws {
        try await Platform.with { platform in
            try await startStandby(platform)
            let device = try await platform.device("A", of: "attendee")
            try await device.ask("subscribe", "Listing")
            let clock = ContinuousClock()
            var (frozen, other) = (platform.sequencer, platform.standby)
            for round in 1...3 {
                // One election for the first sequencer, and one for each round.
                try await expectElections(Int64(round), platform)
                let time = try await platform.sql("SELECT clock_timestamp()::text")[0, 0].string
                let start = clock.now
                try await frozen.signal(SIGSTOP)
                let listing = try await platform.insertListing("while it stood still \(round)")
                try await platform.eventually("the row on the device") {
                    try DeviceFile(device.file).has("listing", listing)
                }
                print("round \(round): on the device \(clock.now - start) after the sequencer was frozen")
                try await expectElections(Int64(round) + 1, platform)
                // Snapshots that the frozen process held open no longer block VACUUM.
                try await platform.eventually("the end of the frozen process's snapshots") {
                    try await pids(platform, "backend_xmin IS NOT NULL AND xact_start < '\(time)'").isEmpty
                }
                try await frozen.signal(SIGCONT)
                let later = try await platform.insertListing("after it came back \(round)")
                try await platform.eventually("the next row on the device") {
                    try DeviceFile(device.file).has("listing", later)
                }
                // The resumed process didn't take over.
                try await expectElections(Int64(round) + 1, platform)
                // The resumed process is now the standby, and the next to be elected.
                let (resumed, times) = (frozen, (round + 1) / 2)
                try await platform.eventually("the resumed process's notice") { resignations(resumed) >= times }
                (frozen, other) = (other, frozen)
            }
            try await checkOrder(platform)
            try await device.kill9()
        }
    }

    /// As on a machine with no processor time to spare. With the usual short lease, each pause would lose it, and the
    /// time in between would be too short to be elected and make a tick.
    @Test
    func `A sequencer that runs a tenth of the time keeps its lease after a few pauses`() async throws {
        try await Platform.with { platform in
            try await platform.eventually("the first tick") { try await platform.count(Self.latest) > 0 }
            let device = try await platform.device("A", of: "attendee")
            try await device.ask("subscribe", "Listing")
            let clock = ContinuousClock()
            let began = clock.now
            let before = try await platform.count(Self.epoch)
            let sequencer = platform.sequencer
            var heardAt = began
            // Silences that outlast any lease, because this test process stood still itself.
            var overlong = 0
            for number in 1...12 {
                try await sequencer.signal(SIGSTOP)
                try await Task.sleep(for: .milliseconds(1_500))
                try await platform.insertListing("listing \(number)")
                let time = try await platform.sql("SELECT clock_timestamp()::text")[0, 0].string
                try await sequencer.signal(SIGCONT)
                try await Task.sleep(for: .milliseconds(150))
                try await platform.eventually("a sign of the sequencer") {
                    try await !pids(platform, "state_change > '\(time)' AND \(Self.holdsLock)").isEmpty
                }
                if clock.now - heardAt > .seconds(7) { overlong += 1 }
                heardAt = clock.now
            }
            let elections = try await platform.count(Self.epoch) - before
            print("\(elections) elections in 12 pauses, \(overlong) of them too long")
            // After a minute without a loss, a lease is as short as at first.
            let minutes = Int((clock.now - began) / .seconds(60))
            #expect(elections <= 3 * (1 + minutes) + overlong)
            let last = try await platform.insertListing("afterwards")
            try await platform.eventually("the last row on the device") {
                try DeviceFile(device.file).has("listing", last)
            }
            try await checkOrder(platform)
            try await device.kill9()
        }
    }

    @Test
    func `A tick that was under way when its sequencer froze is refused once another is elected`() async throws {
        try await undisturbed { try await freezeInTick() }
    }

    private func freezeInTick() async throws {
        try await Platform.with(gateways: 0) { platform in
            try await startStandby(platform)
            // From its second use on, the statement is prepared and sent in one piece.
            for number in 1...3 {
                let last = try await platform.count(Self.latest)
                try await platform.insertListing("listing \(number)")
                try await platform.eventually("tick \(number)") { try await platform.count(Self.latest) > last }
            }
            let before = try await platform.count(Self.latest)
            // The tick waits for the table until after the successor's election, so it arrives late.
            let lock = try await PostgresConnection.connect(platform.configuration)
            try await lock.execute("BEGIN; LOCK TABLE tombolo.tick IN SHARE ROW EXCLUSIVE MODE")
            let waiting = """
                SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'relation'
                AND relation = 'tombolo.tick'::regclass
                """
            try await platform.insertListing("before it stood still")
            try await platform.eventually("a tick under way") { try await platform.count(waiting) >= 1 }
            try await expectElections(1, platform)
            try await platform.sequencer.signal(SIGSTOP)
            try await platform.eventually("the election of another") { try await platform.count(Self.epoch) >= 2 }
            try await platform.eventually("its first tick under way") {
                try await expectElections(2, platform)
                return try await platform.count(waiting) >= 2
            }
            // The late tick is first in the queue, and its number isn't taken yet.
            try await lock.execute("COMMIT")
            await lock.close()
            try await platform.eventually("a tick") { try await platform.count(Self.latest) > before }
            try await platform.sequencer.signal(SIGCONT)
            try await platform.eventually("the resumed process's notice") { resignations(platform.sequencer) > 0 }
            let last = try await platform.count(Self.latest)
            try await platform.insertListing("after it came back")
            try await platform.eventually("another tick") { try await platform.count(Self.latest) > last }
            // If the late tick had been accepted, the successor's would have failed because of its number.
            #expect(!messages(platform.standby).contains("duplicate key"), "\(messages(platform.standby))")
            try await expectElections(2, platform)
            #expect(!messages(platform.standby).contains("Restarting the sequencer"), "\(messages(platform.standby))")
            try await checkOrder(platform)
        }
    }
}
