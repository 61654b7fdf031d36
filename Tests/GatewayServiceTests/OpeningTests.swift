import NIOCore
import NIOPosix
import Testing
import TomboloModel

@testable import GatewayService

/// How a gateway answers requests, byte by byte, at the address of its WebSocket.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct OpeningTests {
    private static let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    private static let fields = [
        "Host: gateway", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    ]

    private static func request(
        _ line: String = "GET /sync HTTP/1.1", without: String = "-", with more: [String] = [key]
    ) -> String {
        let kept = fields.filter { !$0.hasPrefix(without) }
        return ([line] + kept + more).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Sends bytes, and closes its side once the first part of the answer has come.
    private static func talk(_ port: Int, _ bytes: [UInt8]) async throws -> [UInt8] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes))
            var answer: [UInt8] = []
            for try await buffer in inbound {
                answer += Array(buffer.readableBytesView)
                outbound.finish()
            }
            return answer
        }
    }

    private static let refused: [(String, String)] = [
        (request(without: "Sec-WebSocket-Version"), "426"),
        (request(without: "Sec-WebSocket-Version", with: [key, "Sec-WebSocket-Version: 8"]), "426"),
        (request(with: []), "426"),
        (request(with: [key, key]), "426"),
        (request(with: ["Sec-WebSocket-Key: c2hvcnQ="]), "426"),
        (request(with: ["Sec-WebSocket-Key: ????????????????????????"]), "426"),
        (request(without: "Connection"), "426"),
        (request(without: "Upgrade"), "426"),
        (request("GET /sync HTTP/1.0"), "426"),
        (request("POST /sync HTTP/1.1"), "405"),
        (request("GET /elsewhere HTTP/1.1"), "404"),
        (request("GET /sync/../sync HTTP/1.1"), "404"),
        (request(with: [key, "Content-Length: 3"]) + "abc", "426"),
        (request("GET /elsewhere HTTP/1.1").replacing("websocket", with: "h2c"), "404"),
    ]

    @Test("a request that doesn't open a WebSocket the way RFC 6455 says is refused with a reason")
    func refusals() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            for (request, status) in Self.refused {
                let answer = String(decoding: try await Self.talk(fixture.port, Array(request.utf8)), as: UTF8.self)
                #expect(answer.split(separator: " ").dropFirst().first == Substring(status), "\(request)\(answer)")
                guard status == "426" else { continue }
                #expect(answer.lowercased().contains("sec-websocket-version: 13"), "\(answer)")
                #expect(answer.contains("Sec-WebSocket-Key of 16 bytes"), "\(answer)")
            }
        }
    }

    @Test("neither a body in the opening request nor requests after a refused one harm the gateway")
    func bodies() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            let hostile = [
                Self.request(with: [Self.key, "Content-Length: 3"]) + "abc",
                Self.request(with: [Self.key, "Transfer-Encoding: chunked"]) + "3\r\nabc\r\n0\r\n\r\n",
                Self.request("POST /sync HTTP/1.1", with: [Self.key, "Content-Length: 3"]) + "abc",
                Self.request(with: []) + Self.request(with: []) + Self.request(),
                Self.request() + Self.request(),
            ]
            for request in hostile { _ = try? await Self.talk(fixture.port, Array(request.utf8)) }
            let answer = try await Self.talk(fixture.port, Array(Self.request().utf8))
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 101"))
        }
    }

    /// Requests that break a rule, some of them only at the end, when the beginning may have been answered.
    private static let malformed: [(String, Set<Substring>)] = [
        ("GET / HTTP/9.9\r\n\r\n", ["400"]), ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", ["400"]),
        ("GET /sync HTTP/1.1\r\nHost: gateway\r\nnonsense\r\n\r\n", ["400"]),
        ("POST /sync HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", ["400", "405"]),
        ("POST /sync HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", ["400", "405"]),
        ("GET /a HTTP/1.1\r\nHost: gateway\r\n\r\nnonsense\r\n\r\n", ["400", "404"]),
        ("GET /a HTTP/1.1\r\nHost: gateway\r\n\r\nGET /b HTTP/1.1\r\nHost: gateway\r\n\r\n\0", ["400", "404"]),
        (request(with: []) + "nonsense\r\n\r\n", ["400", "426"]),
    ]

    @Test("a request that turns into nonsense is answered and doesn't take down the gateway")
    func nonsense() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            for _ in 0..<20 {
                for (request, statuses) in Self.malformed {
                    let answer = String(decoding: try await Self.talk(fixture.port, Array(request.utf8)), as: UTF8.self)
                    let status = answer.split(separator: " ").dropFirst().first
                    #expect(status.map(statuses.contains) == true, "\(request)\(answer)")
                }
            }
            let answer = try await Self.talk(fixture.port, Array(Self.request().utf8))
            #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 101"))
        }
    }

    @Test("a gateway closes the connection with the code for what the device did wrong")
    func codes() async throws {
        // Masked with zeros, except for the one that isn't masked.
        let frames: [([UInt8], [UInt8])] = [
            ([0x82, 0x01, 7], [0x88, 0x02, 0x03, 0xEA]), ([0xC2, 0x81, 0, 0, 0, 0, 7], [0x88, 0x02, 0x03, 0xEA]),
            ([0x83, 0x81, 0, 0, 0, 0, 7], [0x88, 0x02, 0x03, 0xEA]),
            ([0x81, 0x81, 0, 0, 0, 0, 65], [0x88, 0x02, 0x03, 0xEB]),
            ([0x80, 0x81, 0, 0, 0, 0, 7], [0x88, 0x02, 0x03, 0xEA]),
            ([0x88, 0x83, 0, 0, 0, 0, 0x03, 0xE8, 0xFF], [0x88, 0x02, 0x03, 0xEF]),
        ]
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            for (frame, close) in frames {
                let answer = try await Self.talk(fixture.port, Array(Self.request().utf8) + frame)
                #expect(answer.suffix(4).elementsEqual(close), "\(frame): \(answer.suffix(8))")
            }
        }
    }
}
