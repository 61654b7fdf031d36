import Crypto
import Foundation
import NIOCore
import NIOPosix

@testable import TomboloWebSocket

/// A server that accepts one connection and can send any bytes to a real client.
enum RawServer {
    /// Connects a client that sends every message back.
    /// - Parameters:
    ///   - answer: makes the answer to the client's opening from its `Sec-WebSocket-Key`.
    ///   - body: the server's part after the opening.
    /// - Returns: what `body` returns, and how the client's connection ended.
    static func with<Result: Sendable>(
        answer: @escaping @Sendable (_ key: String) -> [UInt8] = Self.accepting,
        _ body: @escaping @Sendable (RawPeer) async throws -> Result
    ) async throws -> (Result, (any Error)?) {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.syncOptions?.setOption(.tcpOption(.tcp_nodelay), value: 1)
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = listener.channel.localAddress?.port else { throw CancellationError() }
        async let client = clientEnd(port)
        let result = try await listener.executeThenClose { connections -> Result in
            for try await connection in connections {
                return try await connection.executeThenClose { inbound, outbound in
                    let peer = RawPeer(inbound, outbound)
                    let head = try await peer.head()
                    let key = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key:") }
                    await peer.send(answer(String((key ?? "").dropFirst(18)).trimmingCharacters(in: .whitespaces)))
                    return try await body(peer)
                }
            }
            throw CancellationError()
        }
        return (result, await client)
    }

    private static func clientEnd(_ port: Int) async -> (any Error)? {
        do {
            let socket = try await MessageSocket.connect(
                host: "127.0.0.1", port: port, path: EchoServer.path, usesTLS: false,
                group: MultiThreadedEventLoopGroup.singleton, timeout: EchoServer.patience)
            try await EchoServer.echo(socket)
            return nil
        } catch {
            return error
        }
    }

    /// The answer that opens the WebSocket (RFC 6455 §4.2.2).
    @Sendable static func accepting(_ key: String) -> [UInt8] {
        let digest = Insecure.SHA1.hash(data: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Data(digest).base64EncodedString())\r\n\r\n"
        return Array(head.utf8)
    }
}
