import NIOCore
import NIOPosix
import Testing
import TomboloHTTP
import TomboloModel
import TomboloWebSocket

@testable import GatewayService

/// Connections before they become WebSockets, and those that never do.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ConnectionTests {
    /// - Parameter address: a local address. Linux has all of 127.0.0.0/8.
    private static func connect(
        _ port: Int, from address: String = "127.0.0.1"
    ) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: address, port: 0))
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Connects, sends a text, and reads until the server closes.
    private static func talk(_ port: Int, _ text: String) async throws -> String {
        let channel = try await connect(port)
        return try await channel.executeThenClose { inbound, outbound in
            if !text.isEmpty { try await outbound.write(ByteBuffer(string: text)) }
            var answer = ""
            for try await buffer in inbound { answer += String(buffer: buffer) }
            return answer
        }
    }

    /// A close frame with code 1001.
    private static let goingAway: [UInt8] = [0x88, 2, 0x03, 0xe9]

    /// A masked, empty ping and its answer. Once that has come, the connection is being served and has been counted.
    private static let (ping, pong): ([UInt8], [UInt8]) = ([0x89, 0x80, 0, 0, 0, 0], [0x8a, 0])

    /// Connects, sends a request and reads up to the close frame, without waiting for the end of the connection.
    private static func refusal(_ port: Int, _ request: String, from address: String) async throws -> [UInt8] {
        let channel = try await connect(port, from: address)
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer: [UInt8] = []
            for try await buffer in inbound {
                answer += buffer.readableBytesView
                if answer.suffix(4) == goingAway[...] { break }
            }
            return answer
        }
    }

    /// The request that opens a WebSocket.
    private static func upgrade(forwardedFor address: String? = nil) -> String {
        "GET /sync HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            + (address.map { "X-Forwarded-For: \($0)\r\n" } ?? "") + "\r\n"
    }

    /// Limits for sessions whose devices don't answer pings.
    private static var silent: SessionLimits {
        var limits = SessionLimits()
        limits.silenceLimit = .seconds(600)
        return limits
    }

    private func withGateway(
        idle: Duration, _ body: @escaping @Sendable @MainActor (GatewayFixture) async throws -> Void
    ) async throws {
        var limits = HTTPLimits.patient
        limits.idleTimeout = idle
        try await GatewayFixture.with(try Schema.of([Note.self]), http: limits, body)
    }

    @Test(arguments: ["", "GET /sync HTTP/1.1\r\nHost: gateway\r\n"])
    func `A connection that never completes its first request is closed`(_ beginning: String) async throws {
        try await withGateway(idle: .milliseconds(200)) { fixture in
            // The connection may be closed before the write, which then fails.
            let answer = try? await Self.talk(fixture.port, beginning)
            #expect(answer ?? "" == "")
        }
    }

    @Test
    func `A connection that stays silent after its request is closed`() async throws {
        try await withGateway(idle: .seconds(1)) { fixture in
            // On a busy machine the request may come too late and get no answer. Then try again.
            var answer = ""
            while answer.isEmpty {
                try Task.checkCancellation()
                let request = "GET /nothing HTTP/1.1\r\nHost: gateway\r\n\r\n"
                answer = (try? await Self.talk(fixture.port, request)) ?? ""
            }
            #expect(answer.hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test
    func `A request with more headers than a server takes is refused`() async throws {
        try await withGateway(idle: .seconds(600)) { fixture in
            let headers = (0...HTTPLimits.defaultHeaderCount).map { "X-\($0): 0\r\n" }.joined()
            let answer = try await Self.talk(fixture.port, "GET /nothing HTTP/1.1\r\n\(headers)\r\n")
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            #expect(!answer.hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test("devices behind a trusted proxy are counted by the addresses that the proxy reports")
    func devicesBehindAProxyAreCounted() async throws {
        var limits = HTTPLimits.patient
        limits.trustedProxies = try TrustedProxies("127.0.0.0/8, ::1")
        let schema = try Schema.of([Note.self])
        try await GatewayFixture.with(schema, limits: Self.silent, http: limits, connectionsPerAddress: 1) { fixture in
            let first = try await Self.connect(fixture.port)
            try await first.executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: Self.upgrade(forwardedFor: "192.0.2.1")))
                #expect(try await answers.next().map { String(buffer: $0) }?.hasPrefix("HTTP/1.1 101") == true)
                try await outbound.write(ByteBuffer(bytes: Self.ping))
                #expect(try await answers.next().map { Array($0.readableBytesView) } == Self.pong)
                // Closed at once: only a close frame follows the answer to the upgrade.
                let refused = try await Self.talk(fixture.port, Self.upgrade(forwardedFor: "192.0.2.1"))
                #expect(refused.hasPrefix("HTTP/1.1 101"))
                #expect(!refused.contains("did not open its session"), "it was closed, but not at once")
                let other = try await Self.connect(fixture.port)
                try await other.executeThenClose { inbound, outbound in
                    var answers = inbound.makeAsyncIterator()
                    try await outbound.write(ByteBuffer(string: Self.upgrade(forwardedFor: "192.0.2.2")))
                    #expect(try await answers.next() != nil)
                    // Still open: even a malformed frame gets an answer.
                    try await outbound.write(ByteBuffer(bytes: [0xff, 0xff]))
                    #expect(try await answers.next() != nil)
                }
            }
        }
    }

    @Test("an address at its connection limit is turned away, and a device at another address is served")
    func addressesAreCountedApart() async throws {
        let schema = try Schema.of([Note.self])
        let (near, far) = ("127.0.0.2", "127.0.0.3")
        try await GatewayFixture.with(schema, limits: Self.silent, connectionsPerAddress: 1) { fixture in
            let first = try await Self.connect(fixture.port, from: near)
            try await first.executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: Self.upgrade()))
                #expect(try await answers.next().map { String(buffer: $0) }?.hasPrefix("HTTP/1.1 101") == true)
                try await outbound.write(ByteBuffer(bytes: Self.ping))
                #expect(try await answers.next().map { Array($0.readableBytesView) } == Self.pong)
                // The header is ignored, because the device isn't a trusted proxy.
                for upgrade in [Self.upgrade(), Self.upgrade(forwardedFor: far)] {
                    let refused = try await Self.refusal(fixture.port, upgrade, from: near)
                    #expect(refused.starts(with: "HTTP/1.1 101".utf8))
                    #expect(refused.suffix(4) == Self.goingAway[...], "\(refused)")
                }
                let other = try await Self.connect(fixture.port, from: far)
                try await other.executeThenClose { inbound, outbound in
                    var answers = inbound.makeAsyncIterator()
                    try await outbound.write(ByteBuffer(string: Self.upgrade(forwardedFor: near)))
                    #expect(try await answers.next() != nil)
                    // Still open.
                    try await outbound.write(ByteBuffer(bytes: Self.ping))
                    #expect(try await answers.next().map { Array($0.readableBytesView) } == Self.pong)
                }
            }
        }
    }

    @Test
    func `A device gives up on a server that accepts the connection and says nothing`() async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        await #expect(throws: MessageSocketError.self) {
            while true {
                do {
                    _ = try await MessageSocket.connect(
                        host: "127.0.0.1", port: port, path: "/sync", usesTLS: false,
                        group: MultiThreadedEventLoopGroup.singleton, timeout: .milliseconds(200))
                    return
                } catch ChannelError.connectTimeout {
                    // On a busy machine, connecting alone may take that long. Then try again.
                }
            }
        }
        try await server.close()
    }
}
