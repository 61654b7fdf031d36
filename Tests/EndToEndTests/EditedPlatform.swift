import Foundation
import PostgresClient
import Synchronization
import Testing
import TomboloModel

/// Two devices edit the same rows on a platform. Whatever happens meanwhile, no edit may be lost, applied twice or
/// torn.
struct EditedPlatform: Sendable {
    let platform: Platform
    let devices: [DeviceProcess]
    /// One counter for each device, and one that both increment.
    let counters: [ObjectId]
    let shared: ObjectId

    /// - Parameter proxy: stands in front of the gateways; nil if each device connects to a gateway of its own.
    static func build(_ platform: Platform, behind proxy: Proxy? = nil) async throws -> EditedPlatform {
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
                name, of: "organizer", gateway: index % platform.gateways.count, behind: proxy)
            try await device.ask("subscribe", "Event", "Listing", "Session", "Speaker")
            devices.append(device)
        }
        return EditedPlatform(platform: platform, devices: devices, counters: counters, shared: shared)
    }

    func edit(_ index: Int, seed: UInt64) async throws {
        try await devices[index].ask(
            "edit", "\(seed)", counters[index].stringValue, shared.stringValue)
    }

    /// Waits until everything is at rest, then compares.
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
            #expect(missing == [], "\(what): edits of device \(device.name) aren't in the database")
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

    /// Waits until a device has made this many more edits, so that there is something to interrupt.
    func untilEdited(_ index: Int, more count: Int) async throws {
        let before = devices[index].made.withLock { $0.count }
        try await platform.eventually("\(count) more edits of device \(devices[index].name)") {
            devices[index].made.withLock { $0.count } >= before + count
        }
    }
}
