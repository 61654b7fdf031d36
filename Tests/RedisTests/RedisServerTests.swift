import Foundation
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import TomboloRedis

/// Connections to a real server.
@Suite(.timeLimit(.minutes(15))) struct RedisServerTests {
    private final class Heard: Sendable {
        let news = Mutex<[RedisConnection.News]>([])
        let warnings = Mutex<[String]>([])

        var messages: [String] {
            news.withLock { $0 }.compactMap {
                if case .message(let text) = $0 { String(decoding: text, as: UTF8.self) } else { nil }
            }
        }
        var readyCount: Int { news.withLock { $0.count { $0 == .ready } } }

        func note(_ news: RedisConnection.News) { self.news.withLock { $0.append(news) } }

        var logger: Logger { Logger(label: "redis") { _ in Handler(heard: self) } }

        private struct Handler: LogHandler {
            let heard: Heard
            var metadata: Logger.Metadata = [:]
            var logLevel = Logger.Level.trace
            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }
            func log(event: LogEvent) { heard.warnings.withLock { $0.append("\(event.message)") } }
        }
    }

    private static func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(240)
        while try await !condition() {
            try #require(ContinuousClock.now < deadline, "still not: \(what)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private static func address(_ server: TestRedis) throws -> RedisAddress {
        var address = try #require(RedisAddress(server.address))
        address.trustedCertificates = server.authority?.path()
        return address
    }

    @Test("published messages arrive, even after the server was killed and restarted", arguments: [false, true])
    func publishing(_ tls: Bool) async throws {
        try await TestRedis.with(tls: tls) { server in
            let (heard, told) = (Heard(), Heard())
            let address = try Self.address(server)
            let subscriber = RedisConnection(
                address, .subscriber(channel: "tombolo_tick"), logger: heard.logger, onNews: heard.note)
            let publisher = RedisConnection(
                address, .publisher(channel: "tombolo_tick"), logger: heard.logger, onNews: told.note)
            let running = [Task { await subscriber.run() }, Task { await publisher.run() }]
            var before = (heard: 0, told: 0)
            for round in 1...3 {
                // A message published on a lost connection, before the loss is noticed, reaches nobody.
                try await Self.eventually("both connections ready in round \(round)") {
                    heard.readyCount > before.heard && told.readyCount > before.told
                }
                publisher.publish("early \(round)")
                publisher.publish("last \(round)")
                // If the machine stalls, a connection may be lost once more, and messages in flight with it.
                var next = ContinuousClock.now + .seconds(5)
                try await Self.eventually("message \(round)") {
                    if ContinuousClock.now > next {
                        publisher.publish("last \(round)")
                        next = .now + .seconds(5)
                    }
                    return heard.messages.last == "last \(round)"
                }
                before = (heard.readyCount, told.readyCount)
                await server.kill9()
                try await server.start()
            }
            for task in running { task.cancel() }
            for task in running { await task.value }
            let log = heard.warnings.withLock { $0.joined(separator: "\n") }
            #expect(log.contains("retrying"))
            #expect(!log.contains(TestRedis.password) && !log.contains("p%40ss"), "\(log)")
        }
    }

    @Test("a message published before a connection is ready isn't lost if that connection never gets ready")
    func publishedEarly() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(listener.channel.localAddress?.port)
        let address = try #require(RedisAddress("redis://tombolo:secret@127.0.0.1:\(port)"))
        let publisher = RedisConnection(address, .publisher(channel: "tombolo_tick"), logger: Heard().logger)
        let running = Task { await publisher.run() }
        let received = try await listener.executeThenClose { connections -> String in
            var wasPublished = false
            for try await connection in connections {
                let isReady = wasPublished
                // If the server stalls, the publisher gives up on the connection and makes another.
                let text = try? await connection.executeThenClose { inbound, outbound -> String in
                    if isReady { try await outbound.write(ByteBuffer(string: "+OK\r\n")) }
                    var text = ""
                    for try await part in inbound {
                        text += String(buffer: part)
                        if !isReady {
                            // The publisher has connected, and is waiting for its password to be accepted.
                            publisher.publish("early")
                            return text
                        }
                        if text.contains("early") { break }
                    }
                    return text
                }
                if isReady, let text, text.contains("early") { return text }
                if text?.isEmpty == false { wasPublished = true }
            }
            return ""
        }
        #expect(received.contains("PUBLISH") && received.contains("early"))
        running.cancel()
        await running.value
    }

    @Test("a wrong password and a forbidden channel are logged, and the password isn't")
    func refused() async throws {
        try await TestRedis.with { server in
            for (text, channel, expected) in [
                (
                    server.address(user: TestRedis.user, password: "wrong one"), "tombolo_tick",
                    "user name or password"
                ),
                (server.address, "another", "access to the channel"),
                ("redis://127.0.0.1:\(server.port)", "tombolo_tick", "requires a password"),
            ] {
                let heard = Heard()
                let address = try #require(RedisAddress(text))
                let connection = RedisConnection(
                    address, .subscriber(channel: channel), logger: heard.logger, onNews: heard.note)
                let running = Task { await connection.run() }
                try await Self.eventually(expected) {
                    heard.warnings.withLock { $0.contains { $0.contains(expected) } }
                }
                running.cancel()
                await running.value
                #expect(heard.readyCount == 0)
                #expect(!heard.warnings.withLock { $0.joined() }.contains("wrong one"))
            }
        }
    }

    @Test("a server whose certificate isn't trusted never gets the password")
    func untrusted() async throws {
        try await TestRedis.with(tls: true) { server in
            let heard = Heard()
            var address = try Self.address(server)
            address.trustedCertificates = nil
            let connection = RedisConnection(
                address, .subscriber(channel: "tombolo_tick"), logger: heard.logger, onNews: heard.note)
            let running = Task { await connection.run() }
            try await Self.eventually("the reason") {
                heard.warnings.withLock { $0.contains { $0.contains("authority that isn't trusted") } }
            }
            running.cancel()
            await running.value
            #expect(heard.readyCount == 0)
        }
    }
}
