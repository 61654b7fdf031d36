import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import ServiceTestSupport
import TestSupport
import Testing

@testable import TomboloHTTP

/// The PROXY protocol on a server's connections.
@Suite(.timeLimit(.minutes(15))) struct ProxyProtocolTests {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private static let request = Array("GET /address HTTP/1.1\r\nHost: test\r\n\r\n".utf8)
    private static let headers: [[UInt8]] = [
        ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443"),
        ProxyBytes.binary(1, 0x11, ProxyBytes.ipv4 + ProxyBytes.field),
    ]

    private static func limits(trusting proxies: String = "127.0.0.0/8") throws -> HTTPLimits {
        var limits = HTTPLimits.patient
        limits.trustedProxies = try TrustedProxies(proxies)
        limits.expectsProxyHeader = true
        return limits
    }

    private static func withServer(
        _ limits: HTTPLimits, log: LogRecorder = LogRecorder(), certificate: TLSCertificate? = nil,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        var server = application(limits: limits, log: log) {
            $0.on(.get, "/address", access: .open(because: "test")) { _, context, _ in
                "<\(context.remoteAddress)>"
            }
        }
        server.certificate = certificate
        try await server.live(body)
    }

    private static func connect(_ port: Int) async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
    }

    /// Sends each piece by itself, and reads until the server closes or an answer has arrived.
    private static func talk(_ port: Int, _ pieces: [[UInt8]]) async throws -> String {
        try await talk(connect(port), pieces)
    }

    private static func talk(_ connection: Connection, _ pieces: [[UInt8]]) async throws -> String {
        try await connection.executeThenClose { inbound, outbound in
            // The connection may be closed before everything is written.
            for piece in pieces { try? await outbound.write(ByteBuffer(bytes: piece)) }
            var answer = ""
            do {
                for try await buffer in inbound {
                    answer += String(buffer: buffer)
                    if answer.hasSuffix(">") || answer.contains("}") { break }
                }
            } catch {}
            return answer
        }
    }

    @Test("a request's address comes from a trusted proxy's header, however the header is split", arguments: headers)
    func address(_ header: [UInt8]) async throws {
        try await Self.withServer(try Self.limits()) { port in
            let all = header + Self.request
            var cuts = [[all], all.map { [$0] }, [header, Self.request]]
            for place in [1, header.count - 1, header.count + 1] {
                cuts.append([Array(all[..<place]), Array(all[place...])])
            }
            for pieces in cuts {
                let answer = try await Self.talk(port, pieces)
                #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("<192.0.2.1>"), "\(answer)")
            }
        }
    }

    @Test("a client without an IP address has no address, and a proxy's own connection has the proxy's")
    func othersThanClients() async throws {
        try await Self.withServer(try Self.limits()) { port in
            let forwarded = Array("GET /address HTTP/1.1\r\nHost: test\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n".utf8)
            for (header, expected) in [
                (ProxyBytes.text("PROXY UNKNOWN"), "<>"), (ProxyBytes.binary(1, 0, []), "<>"),
                (ProxyBytes.binary(0, 0, []), "<127.0.0.1>"),
            ] {
                let answer = try await Self.talk(port, [header + Self.request])
                #expect(answer.hasSuffix(expected), "\(answer)")
            }
            // Forwarding headers count only if a trusted proxy sent them, not a client or an unknown sender.
            for (header, expected) in [
                (Self.headers[0], "<192.0.2.1>"), (ProxyBytes.text("PROXY UNKNOWN"), "<>"),
                (ProxyBytes.text("PROXY TCP4 127.0.0.9 198.51.100.1 56324 443"), "<198.51.100.7>"),
            ] {
                let answer = try await Self.talk(port, [header + forwarded])
                #expect(answer.hasSuffix(expected), "\(answer)")
            }
        }
    }

    @Test("a trusted proxy's connection with a missing or malformed header is closed unanswered, and logged")
    func headersAreRequired() async throws {
        let log = LogRecorder()
        try await Self.withServer(try Self.limits(), log: log) { port in
            for pieces in [[Self.request], Self.request.map { [$0] }] {
                let answer = try await Self.talk(port, pieces)
                #expect(answer == "")
            }
            #expect(log.text.contains("doesn't begin with a PROXY header"), "\(log.text)")
            #expect(log.text.contains("A connection from 127.0.0.1 was refused"))
            let malformed = ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 99999")
            let answer = try await Self.talk(port, [malformed + Self.request])
            #expect(answer == "")
            #expect(log.text.contains("malformed: it has a port"), "\(log.text)")
        }
    }

    @Test("a silent connection that isn't from a proxy counts for its address from the start")
    func silentConnections() async throws {
        var limits = try Self.limits(trusting: "192.0.2.0/24")
        limits.connectionsPerAddress = 2
        try await Self.withServer(limits) { port in
            let silent = [try await Self.connect(port), try await Self.connect(port)]
            // They may be accepted slightly later than the next connection.
            while !(try await Self.talk(port, [Self.request]).contains("429")) {}
            for connection in silent { try await connection.executeThenClose { _, _ in } }
            while !(try await Self.talk(port, [Self.request]).hasPrefix("HTTP/1.1 200")) {}
        }
    }

    @Test("from anybody else, a header is refused, and a connection without one is served", arguments: headers)
    func othersMayNotSay(_ header: [UInt8]) async throws {
        let log = LogRecorder()
        try await Self.withServer(try Self.limits(trusting: "192.0.2.0/24"), log: log) { port in
            for pieces in [[header + Self.request], header.map { [$0] }] {
                let answer = try await Self.talk(port, pieces)
                #expect(answer == "")
            }
            #expect(log.text.contains("only trusted proxies may send one"), "\(log.text)")
            for pieces in [[Self.request], Self.request.map { [$0] }] {
                let answer = try await Self.talk(port, pieces)
                #expect(answer.hasSuffix("<127.0.0.1>"), "\(answer)")
            }
        }
    }

    @Test("without the setting, a header is invalid HTTP, whoever sends it", arguments: headers)
    func offByDefault(_ header: [UInt8]) async throws {
        var limits = try Self.limits()
        limits.expectsProxyHeader = false
        try await Self.withServer(limits) { port in
            let answer = try await Self.talk(port, [header + Self.request])
            #expect(!answer.contains("200 OK") && !answer.contains("192.0.2.1"), "\(answer)")
            #expect(try await Self.talk(port, [Self.request]).hasSuffix("<127.0.0.1>"))
        }
    }

    @Test("connections are counted by the client's address, not the proxy's")
    func connectionsAreCounted() async throws {
        var limits = try Self.limits()
        limits.connectionsPerAddress = 1
        limits.idleTimeout = .seconds(600)
        try await Self.withServer(limits) { port in
            let first = try await Self.connect(port)
            try await first.executeThenClose { inbound, outbound in
                var answers = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(bytes: Self.headers[0] + Self.request))
                #expect(try await answers.next() != nil)
                for header in Self.headers {
                    let refused = try await Self.talk(port, [header])
                    #expect(refused.hasPrefix("HTTP/1.1 429"), "\(refused)")
                }
                let other = ProxyBytes.text("PROXY TCP4 192.0.2.2 198.51.100.1 56324 443")
                #expect(try await Self.talk(port, [other + Self.request]).hasSuffix("<192.0.2.2>"))
                // The proxy's own connections aren't counted.
                for _ in 0..<3 {
                    let own = try await Self.talk(port, [ProxyBytes.binary(0, 0, []) + Self.request])
                    #expect(own.hasSuffix("<127.0.0.1>"), "\(own)")
                }
            }
        }
    }

    @Test("a header that doesn't arrive in time closes the connection", arguments: [0, 1, 20])
    func late(_ count: Int) async throws {
        var limits = try Self.limits()
        limits.firstRequestTimeout = .milliseconds(200)
        limits.idleTimeout = .seconds(600)
        try await Self.withServer(limits) { port in
            let answer = try await Self.talk(port, [Array(Self.headers[0].prefix(count))])
            #expect(answer == "")
        }
    }

    @Test("a connection reset before it is served has no address, and isn't logged under anybody's")
    func resetBeforeServed() async throws {
        let log = LogRecorder()
        let limits = try Self.limits()
        let responder = RequestResponder(router: application(limits: limits) { _ in }.responder, logger: log.logger)
        let server = GuardedServerChannel(base: HTTPServerChannel(responder, limits: limits), limits: limits)
        let channel = NIOAsyncTestingChannel()
        let value = try await channel.testingEventLoop.executeInContext {
            server.setup(channel: channel, logger: log.logger)
        }.get()
        // What the client sent before the reset is still read.
        _ = try? await channel.writeInbound(ByteBuffer(bytes: Self.headers[0]))
        await server.handle(value: value, logger: log.logger)
        #expect(!channel.isActive)
        #expect(log.text == "", "\(log.text)")
    }

    @Test("the header comes before TLS")
    func beforeTLS() async throws {
        try await withTemporaryFolder { folder in
            let authority = try TestAuthority(in: folder)
            let issued = try authority.issue()
            let certificate = try TLSCertificate(
                CertificateFiles(certificate: issued.certificate.path(), key: issued.key.path()),
                logger: LogRecorder().logger)
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(authority.certificate.path())
            let context = try NIOSSLContext(configuration: configuration)
            try await Self.withServer(try Self.limits(), certificate: certificate) { port in
                for header in Self.headers {
                    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                        .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)).get()
                    try await channel.writeAndFlush(ByteBuffer(bytes: header))
                    let connection = try await channel.eventLoop.submit {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: nil))
                        return try Connection(wrappingChannelSynchronously: channel)
                    }.get()
                    let answer = try await Self.talk(connection, [Self.request])
                    #expect(answer.hasSuffix("<192.0.2.1>"), "\(answer)")
                }
            }
        }
    }
}
