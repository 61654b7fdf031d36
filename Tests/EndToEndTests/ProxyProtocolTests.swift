import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

/// Gateways that speak TLS, behind HAProxy in TCP mode, which passes on clients' addresses by the PROXY protocol.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ProxyProtocolTests {
    private static let maximumConnectionCount = 5

    /// HAProxy's options for both versions: the current one, as in infra/haproxy/haproxy-tcp.cfg, and the older one.
    static let headers = ["send-proxy-v2", "send-proxy"]

    private static func withGateways(
        header: String, _ body: @Sendable (Platform, Proxy) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            let issued = try authority.issue()
            let settings = [
                "TOMBOLO_TLS_CERTIFICATE": issued.certificate.path(), "TOMBOLO_TLS_KEY": issued.key.path(),
                "TOMBOLO_PROXY_PROTOCOL": "on", "TOMBOLO_TRUSTED_PROXIES": "127.0.0.1",
                "TOMBOLO_CONNECTIONS_PER_ADDRESS": "\(maximumConnectionCount)",
            ]
            try await Platform.with(gateways: 2, settings: settings) { platform in
                var addresses: [String] = []
                for gateway in platform.gateways {
                    let address = await gateway.address
                    addresses.append("\(address.host):\(address.port)")
                }
                let mode = Proxy.Mode.tcp(header: header, authority)
                try await Proxy.with(addresses, mode: mode, in: platform.folder) { try await body(platform, $0) }
            }
        }
    }

    private static func log(_ gateway: Server) throws -> String {
        try String(contentsOf: gateway.messages, encoding: .utf8)
    }

    /// Connects from one of this machine's addresses.
    private static func connect(_ port: Int, from address: String) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: address, port: 0)).connect(host: "127.0.0.1", port: port).get()
    }

    /// Sends a text from one of this machine's addresses, and waits until the connection is closed.
    private static func say(_ text: String, to port: Int, from address: String) async throws {
        let channel = try await connect(port, from: address)
        // The gateway may already have closed the connection if this process was silent for too long.
        try? await channel.writeAndFlush(ByteBuffer(string: text))
        try await channel.closeFuture.get()
    }

    @Test("devices sync through a load balancer that doesn't look into their connections", arguments: headers)
    func devices(header: String) async throws {
        try await Self.withGateways(header: header) { platform, proxy in
            let devices = [
                try await platform.device("A", of: "organizer", behind: proxy),
                try await platform.device("B", of: "organizer", behind: proxy),
            ]
            for device in devices { try await device.ask("subscribe", "Listing") }
            try await platform.quiet(devices)
            // Another gateway takes over once the health checks find this one gone.
            try await platform.gateways[0].kill9()
            try await platform.quiet(devices)
            for device in devices { try await device.kill9() }
        }
    }

    @Test("per-address limits see the client's address, which no client can forge", arguments: headers)
    func limits(header: String) async throws {
        try await Self.withGateways(header: header) { platform, proxy in
            // Each gateway counts separately, so this test has only one.
            try await platform.gateways[1].kill9()
            let gateway = platform.gateways[0]
            let email = Platform.email("attendee")
            let authority = proxy.authority.certificate
            let url = proxy.url.replacing("localhost", with: "127.0.0.1")
            @Sendable func login(
                _ password: String, of email: String = email, from address: String, claiming other: String
            ) async throws -> Int {
                let status = Mutex(0)
                try await Requests.with(url, trusting: authority, from: address) { post in
                    let answer = try await post.login(email, password, from: other)
                    status.withLock { $0 = answer.status }
                }
                return status.withLock { $0 }
            }

            // Failed logins. The HTTP header, in which a client claims another address, is ignored. An address's
            // failures count for a minute. If that passes before everything is checked, the test tries another account.
            var isInTime = false
            for name in ["attendee", "organizer", "stranger"] where !isInTime {
                let email = Platform.email(name)
                try await platform.eventually("a gateway that the proxy knows to be the only one") {
                    try await login(Platform.password, of: email, from: "127.0.0.3", claiming: "198.51.100.1") == 200
                }
                let began = ContinuousClock.now
                var statuses: [Int] = []
                while statuses.last != 429, statuses.count < 12 {
                    let number = statuses.count
                    statuses.append(
                        try await login(
                            "guess \(number)", of: email, from: "127.0.0.2", claiming: "198.51.100.\(number)"))
                }
                let own = try await login(Platform.password, of: email, from: "127.0.0.2", claiming: "127.0.0.3")
                isInTime = ContinuousClock.now - began < .seconds(59)
                guard isInTime else { continue }
                #expect(statuses.first == 401 && statuses.last == 429, "\(statuses)")
                #expect(own == 429)
                #expect(try await login(Platform.password, of: email, from: "127.0.0.3", claiming: "127.0.0.2") == 200)
            }
            #expect(isInTime, "every dozen logins took longer than a minute")

            // Connections. HAProxy sends its header as soon as a client connects.
            let port = try #require(URL(string: url)?.port)
            var channels: [any Channel] = []
            let line = "Connections from 127.0.0.4 are turned away: it has \(Self.maximumConnectionCount)."
            let deadline = ContinuousClock.now + .seconds(600)
            while try !Self.log(gateway).contains(line) {
                try #require(ContinuousClock.now < deadline, "\(channels.count) connections and no refusal")
                if channels.count < 500 { channels.append(try await Self.connect(port, from: "127.0.0.4")) }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(channels.count > Self.maximumConnectionCount)
            #expect(try await login(Platform.password, from: "127.0.0.3", claiming: "127.0.0.4") == 200)
            for channel in channels { try? await channel.close() }
        }
    }

    @Test("a gateway requires the header from its proxies, and lets nobody else send one")
    func refusals() async throws {
        try await Self.withGateways(header: Self.headers[0]) { platform, proxy in
            let gateway = platform.gateways[0]
            let (url, port) = (await gateway.url, await gateway.address.port)
            let authority = proxy.authority.certificate

            // From the proxy's address, but without the header. If this process stalls before sending anything, the
            // connection is refused for that instead, so it tries again.
            try await platform.eventually("the refusal in the log") {
                try await Self.say("GET /ready HTTP/1.1\r\n", to: port, from: "127.0.0.1")
                return try Self.log(gateway).contains(
                    "from 127.0.0.1 was refused: it doesn't begin with a PROXY header")
            }

            let header = "PROXY TCP4 127.0.0.9 127.0.0.1 50000 443\r\n"
            try await platform.eventually("the other refusal in the log") {
                try await Self.say(header, to: port, from: "127.0.0.2")
                return try Self.log(gateway).contains("from 127.0.0.2 was refused: it begins with a PROXY header")
            }

            // A client that isn't a proxy may connect without a header.
            try await Requests.with(url, trusting: authority, from: "127.0.0.2") { post in
                let answer = try await post.login(Platform.email("attendee"), Platform.password, from: "192.0.2.1")
                #expect(answer.status == 200, "\(answer)")
            }
        }
    }
}
