import Foundation
import PostgresClient
import TestSupport
import Testing
import TomboloModel

/// A device is killed at various moments of a client reset, and started again.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct KilledResetTests {
    enum Moment: String, CaseIterable {
        /// The file records that a reset has begun.
        case begun
        /// Parts of the download are in the file.
        case downloading
        case inBlockBefore
        case inBlockAfter
        /// At any time: after a random pause.
        case anywhere1, anywhere2, anywhere3, anywhere4
    }

    @Test(
        "A device killed at any moment of a reset finishes it after restarting, with each unsynced edit applied once")
    func kills() async throws {
        try await Platform.with { platform in
            let counter = try await platform.insertListing("counter")
            // Enough rows for many frames.
            try await platform.sql(
                """
                INSERT INTO listing (_id, location, price, bedrooms)
                SELECT decode(lpad(to_hex(n), 24, '0'), 'hex'), repeat(md5(n::text), 4), n, 1
                FROM generate_series(1, 30000) AS n
                """)
            let device = try await platform.device("A", of: "organizer")
            try await device.ask("subscribe", "Listing")
            for (round, moment) in Moment.allCases.enumerated() {
                let expected = try await lose(platform, device, counter, round)
                try await interrupt(platform, device, moment)
                try await device.kill9()
                let lines = log(device).count
                let state = try? DeviceFile(device.file).integer("SELECT coalesce(max(state), 0) FROM tombolo_reset")
                try await device.start()
                try await platform.quiet([device])
                let what = "killed \(moment.rawValue), with state \(state ?? -1)"
                #expect(try await Comparison(platform: platform).differences("Listing", on: device) == [], "\(what)")
                let pending = try await platform.count("SELECT count(*) FROM listing WHERE location = 'pending'")
                #expect(pending == expected, "\(what): an edit was lost or doubled")
                let price = try await platform.sql(
                    "SELECT price FROM listing WHERE _id = $1", [.bytea(counter.bytes)])[0, 0].int64
                #expect(price == expected, "\(what): an increment was lost or doubled")
                #expect(try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_reset") == 0, "\(what)")
                checkBlocks(log(device), killedAfter: lines, expected, moment, what)
                try FileManager.default.removeItem(at: device.file.appendingPathExtension("resets"))
            }
            // A lost connection doesn't cause a reset.
            try await device.kill9()
            try await device.start()
            try await platform.quiet([device])
            #expect(log(device) == [])
            try await device.kill9()
        }
    }

    /// Restores the database to before the device's newest tick, with an edit that only the device has.
    /// - Returns: the number of such edits so far.
    private func lose(
        _ platform: Platform, _ device: DeviceProcess, _ counter: ObjectId, _ round: Int
    ) async throws -> Int64 {
        try await platform.quiet([device])
        let backup = try await platform.cluster.dump(platform.configuration)
        try await platform.insertListing("after the backup \(round)")
        try await platform.quiet([device])
        try await device.ask("offline")
        try await device.ask("create", "Listing", ObjectId.generate().stringValue, "location=s:pending")
        try await device.ask("add", counter.stringValue, "price", "1")
        try await platform.cluster.restore(backup, as: platform.configuration)
        return Int64(round + 1)
    }

    private func interrupt(_ platform: Platform, _ device: DeviceProcess, _ moment: Moment) async throws {
        switch moment {
        case .inBlockBefore: try await die("before", platform, device)
        case .inBlockAfter: try await die("after", platform, device)
        case .begun:
            try await device.ask("online")
            try await platform.eventually("a reset that has begun, or was too quick") {
                try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_reset") > 0 || !log(device).isEmpty
            }
        case .downloading:
            try await device.ask("online")
            try await platform.eventually("a staged frame, or a reset that was too quick") {
                try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_staged") > 0
                    || !log(device).isEmpty
            }
        case .anywhere1, .anywhere2, .anywhere3, .anywhere4:
            try await device.ask("online")
            try await platform.eventually("a reset that has begun") {
                try DeviceFile(device.file).integer("SELECT count(*) FROM tombolo_reset") > 0 || !log(device).isEmpty
            }
            // Waits for nothing in particular, only to hit different moments.
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<1_500)))
        }
    }

    private func die(_ block: String, _ platform: Platform, _ device: DeviceProcess) async throws {
        try await device.ask("die-in", block)
        try await device.ask("online")
        try await platform.eventually("the device's death") {
            do {
                try await device.ask("problems")
                return false
            } catch {
                return true
            }
        }
    }

    private func log(_ device: DeviceProcess) -> [String] {
        let text = try? String(contentsOf: device.file.appendingPathExtension("resets"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Both blocks must be called, in order, the first with the unsynced edits, and not again once the second has
    /// ended.
    private func checkBlocks(
        _ lines: [String], killedAfter count: Int, _ expected: Int64, _ moment: Moment, _ what: String
    ) {
        let (before, after) = ("before \(expected)", "after \(expected) \(expected)")
        let befores = lines.prefix { $0 == before }.count
        let afters = lines.dropFirst(befores)
        #expect(befores >= 1 && befores <= 2, "\(what): \(lines)")
        #expect(afters.allSatisfy { $0 == after } && (1...2).contains(afters.count), "\(what): \(lines)")
        switch moment {
        case .inBlockBefore: #expect(lines == [before, before, after], "\(what)")
        case .inBlockAfter: #expect(lines == [before, after, after], "\(what)")
        case .begun, .downloading, .anywhere1, .anywhere2, .anywhere3, .anywhere4: break
        }
    }
}
