import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

@testable import TomboloWebSocket

/// A real server on a free port that sends every message back.
enum EchoServer {
    static let path = "/sync"
    /// How long a client waits for a test's server, which may stall for a while.
    static let patience = Duration.seconds(600)

    /// Runs `body` with the server's port.
    /// - Parameter tls: a context with a certificate, or nil for no TLS.
    static func with<Result: Sendable>(
        openingByteCount: Int? = nil, tls: NIOSSLContext? = nil,
        _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    let upgrader = MessageSocket.serverUpgrader(path: path, openingByteCount: openingByteCount) {
                        socket, _ in
                        socket.start(Echo(socket))
                    }
                    let upgrade = NIOTypedHTTPServerUpgradeConfiguration<Void>(upgraders: [upgrader]) {
                        $0.eventLoop.makeSucceededVoidFuture()
                    }
                    let result = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                        configuration: .init(upgradeConfiguration: upgrade))
                    try MessageSocket.filterOpenings(of: channel, path: path, for: Void.self)
                    return result
                }
            }
        guard let port = listener.channel.localAddress?.port else { throw CancellationError() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await listener.executeThenClose { upgrades in
                    for try await _ in upgrades {}
                }
                return nil
            }
            group.addTask { try await body(port) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    /// Sends every message back.
    private final class Echo: MessageReceiver {
        private let socket: ServerSocket

        init(_ socket: ServerSocket) { self.socket = socket }

        func received(_ message: ByteBuffer) {
            socket.write(message)
            socket.flush()
        }

        func heard() {}
        func writabilityChanged(to isWritable: Bool) { if isWritable { socket.resume() } else { socket.pause() } }
        func shouldClose() { socket.close(.goingAway) }
        func closed() {}
    }

    static func echo(_ socket: MessageSocket) async throws {
        try await socket.run(silenceLimit: patience) { messages, writer in
            for try await message in messages { try await writer.write(Array(message.readableBytesView)) }
        }
    }

    /// Opens a WebSocket as a client that can send any bytes.
    /// - Parameter bytes: what to send along with the opening.
    static func connect<Result: Sendable>(
        _ port: Int, early bytes: [UInt8] = [], _ body: @escaping @Sendable (RawPeer) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let peer = RawPeer(inbound, outbound)
            await peer.send(Array(opening.utf8) + bytes)
            let head = try await peer.head()
            guard head.hasPrefix("HTTP/1.1 101") else { throw RawPeer.Failure(description: "No WebSocket: \(head)") }
            return try await body(peer)
        }
    }

    private static let opening =
        "GET \(path) HTTP/1.1\r\nHost: gateway\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
}
