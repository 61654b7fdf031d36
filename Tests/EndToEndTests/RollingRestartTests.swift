import Foundation
import NIOCore
import PostgresClient
import Synchronization
import TestSupport
import Testing
import TomboloModel

/// Two gateways behind HAProxy on one database.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct RollingRestartTests {
    private static let settings = [
        "TOMBOLO_TRUSTED_PROXIES": "127.0.0.0/8, ::1",
        // Longer than HAProxy's health checks need to notice.
        "TOMBOLO_DRAIN_DELAY": "2",
    ]
    private static var rounds: Int { ProcessInfo.processInfo.environment["TOMBOLO_LONG_TESTS"] == "1" ? 20 : 2 }

    private static func withGateways(
        _ body: @Sendable (Platform, Proxy) async throws -> Void
    ) async throws {
        try await Platform.with(gateways: 2, settings: settings) { platform in
            var addresses: [String] = []
            for gateway in platform.gateways {
                let address = await gateway.address
                addresses.append("\(address.host):\(address.port)")
            }
            try await Proxy.with(addresses, in: platform.folder) { try await body(platform, $0) }
        }
    }

    @Test("a write at one gateway reaches a device of the other")
    func twoGateways() async throws {
        try await Platform.with(gateways: 2) { platform in
            let writer = try await platform.device("writer", of: "organizer", gateway: 0)
            let reader = try await platform.device("reader", of: "attendee", gateway: 1)
            for device in [writer, reader] { try await device.ask("subscribe", "Listing") }
            for (from, to) in [(writer, reader), (writer, writer)] {
                let id = ObjectId.generate()
                try await from.ask("create", "Listing", id.stringValue, "location=s:here")
                try await platform.eventually("the listing on device \(to.name)") {
                    try DeviceFile(to.file).has("listing", id)
                }
            }
            for device in [writer, reader] { try await device.kill9() }
        }
    }

    @Test("gateways restarted in turn behind HAProxy, by SIGTERM and by kill -9, lose, duplicate and tear nothing")
    func rollingRestart() async throws {
        try await Self.withGateways { platform, proxy in
            let stage = try await EditedPlatform.build(platform, behind: proxy)
            for round in 0..<Self.rounds {
                for (index, gateway) in platform.gateways.enumerated() {
                    let writers = PlainWriters(platform.configuration, event: platform.event, count: 1)
                    for device in stage.devices.indices {
                        try await stage.edit(device, seed: UInt64(round * 100 + index * 10 + device))
                    }
                    for device in stage.devices.indices { try await stage.untilEdited(device, more: 3) }
                    if round % 2 == 0 { try await gateway.terminate() } else { try await gateway.kill9() }
                    // All devices are at the other gateway or move to it, because this one is gone.
                    for device in stage.devices { try await device.ask("rest") }
                    for device in stage.devices { try await device.ask("upload") }
                    await writers.stop()
                    try await gateway.start()
                    try await stage.check("round \(round + 1), gateway \(index + 1) restarted")
                }
            }
            for device in stage.devices { try await device.kill9() }
        }
    }

    /// Whether a gateway that was told to end is seen serving while not ready; false if it ends first. A check may time
    /// out on a busy machine, and is repeated.
    private static func servesWhileDraining(_ url: String, until hasEnded: () -> Bool) async throws -> Bool {
        while !hasEnded() {
            if (try? await Requests.status(url + "/ready", timeout: .seconds(5))) == 503,
                (try? await Requests.status(url + "/health", timeout: .seconds(5))) == 200
            {
                return true
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    @Test("a draining gateway says so before it sends its devices away, and none comes back to it")
    func draining() async throws {
        try await Self.withGateways { platform, proxy in
            let devices = [
                try await platform.device("A", of: "organizer", behind: proxy),
                try await platform.device("B", of: "organizer", behind: proxy),
            ]
            for device in devices { try await device.ask("subscribe", "Listing") }
            let draining = platform.gateways[0]
            let url = await draining.url
            try await platform.eventually("a gateway that is ready") {
                try await Requests.status(url + "/ready") == 200
            }
            // If the gateway ends before everything is checked, the next attempt drains for longer.
            var wasServing = false
            for delay in [2, 15, 60] where !wasServing {
                if delay > 2 {
                    await draining.set("TOMBOLO_DRAIN_DELAY", to: "\(delay)")
                    try await draining.start()
                }
                let hasEnded = Mutex(false)
                let end = Task {
                    defer { hasEnded.withLock { $0 = true } }
                    try await draining.terminate()
                }
                wasServing = try await Self.servesWhileDraining(url) { hasEnded.withLock { $0 } }
                try await platform.quiet(devices)
                try await end.value
            }
            #expect(wasServing)
            await #expect(throws: (any Error).self) {
                try await Requests.status(url + "/health", timeout: .seconds(1))
            }
            // All devices are on the other gateway.
            try await platform.quiet(devices)
            let messages = try String(contentsOf: draining.messages, encoding: .utf8)
            #expect(messages.contains("Draining: /ready answers 503"), "\(messages)")
            for device in devices { try await device.kill9() }
        }
    }

    @Test("a device's address is the one that HAProxy reports, not the one that the device claims")
    func addresses() async throws {
        try await Self.withGateways { platform, proxy in
            // Each gateway counts separately, so this test runs only one.
            try await platform.gateways[1].kill9()
            let email = Platform.email("attendee")
            try await Requests.with(proxy.url, trusting: proxy.authority.certificate) { through in
                // Makes the gateway remember this account's address, once the proxy knows that the other gateway is
                // gone.
                try await platform.eventually("a login through the proxy") {
                    try await through.login(email, Platform.password, from: "192.0.2.1").status == 200
                }
                try await Requests.with(await platform.gateways[0].url) { directly in
                    var statuses: [Int] = []
                    while statuses.last != 429, statuses.count < 100 {
                        let address = "198.51.100.\(statuses.count)"
                        statuses.append(try await directly.login(email, "guess number one", from: address).status)
                    }
                    #expect(statuses.last == 429, "\(statuses)")
                }
                // Strangers have to wait now, at this gateway. The device isn't one, whatever address it claims,
                // because it still connects from the remembered address.
                let second = try await through.login(email, Platform.password, from: "192.0.2.2")
                #expect(second.status == 200, "\(second)")
            }
        }
    }
}
