import Foundation
import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncClient
import TomboloSyncSession

/// How a device's wrong clock affects merges; see "Clock" in docs/protocol.md.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct WrongClockTests {
    private static func now(_ platform: Platform) async throws -> Int64 {
        try await platform.count("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
    }

    /// Creates a listing that the devices receive and can then edit offline.
    /// - Returns: the listing, and how far, in microseconds, the devices' estimates of the server's time may lag
    ///   behind. That is the duration of all of this, because the server told its time within it.
    private static func meet(
        _ devices: [SkewedDevice], _ platform: Platform
    ) async throws -> (listing: ObjectId, error: Int64) {
        // Reconnect to receive it, which also tells the devices the server's time.
        for device in devices { await device.engine.stop() }
        let began = try await now(platform)
        let id = try await platform.insertListing("dallas", price: 1)
        for device in devices { await device.engine.start() }
        for device in devices { try await wait(for: device, toHave: id, at: 1, platform) }
        for device in devices { await device.engine.stop() }
        return (id, try await now(platform) - began)
    }

    private static func wait(
        for device: SkewedDevice, toHave id: ObjectId, at price: Int64, _ platform: Platform
    ) async throws {
        let file = device.file
        let query = "SELECT count(*) FROM listing WHERE _id = x'\(id.stringValue)' AND price = \(price)"
        try await platform.eventually("the listing at \(price) on device \(device.name)") {
            try DeviceFile(file).integer(query) == 1
        }
    }

    /// Uploads the writes that a device made offline.
    private static func upload(_ device: SkewedDevice, _ platform: Platform) async throws {
        let engine = device.engine
        await engine.start()
        try await platform.eventually("the outcome of what \(device.name) wrote") {
            let state = try await engine.state()
            return state.acknowledged == state.lastChangeset
        }
    }

    @Test(
        "of two offline edits the later one wins, whichever device's clock is an hour off",
        arguments: [Duration.seconds(3_600), .seconds(-3_600)])
    func offlineEdits(skew: Duration) async throws {
        try await Platform.with { platform in
            let wrong = try await SkewedDevice("wrong", by: skew, platform, of: "organizer")
            let right = try await SkewedDevice("right", by: .zero, platform, of: "organizer")
            let devices = [wrong, right]
            for (first, second) in [(wrong, right), (right, wrong)] {
                let (id, error) = try await Self.meet(devices, platform)
                var end: Int64 = 0
                for (device, price) in [(first, Int64(10)), (second, 20)] {
                    // Wait until the devices' estimates of the server's time are certain to order the edits.
                    let earliest = end + error
                    let limit = Duration.seconds(60) + .microseconds(error)
                    try await platform.eventually("a time that is later by what clocks may be wrong", within: limit) {
                        try await Self.now(platform) > earliest
                    }
                    let began = try await Self.now(platform)
                    let stamp = try await device.setPrice(of: id, to: price).microseconds
                    end = try await Self.now(platform)
                    #expect((began - error...end).contains(stamp), "\(device.name)'s clock isn't the server's")
                }
                // A stamp in the future would be clamped to the time of receipt, and win.
                try await Self.upload(second, platform)
                try await Self.upload(first, platform)
                for device in devices { try await Self.wait(for: device, toHave: id, at: 20, platform) }
                let price = try await platform.sql("SELECT price FROM listing WHERE _id = $1", [.bytea(id.bytes)])
                #expect(try price[0, 0].int == 20)
            }
            for device in devices { device.engine.close() }
        }
    }
}
