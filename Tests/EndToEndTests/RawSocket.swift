import NIOCore
import NIOPosix
import TomboloSyncProtocol

/// A WebSocket client that sends whatever it is told to, even frames that no client should send (RFC 6455).
struct RawSocket {
    enum Frame {
        case message([UInt8])
        case closed(code: Int?)
    }

    static let binary: UInt8 = 0x2
    static let pong: UInt8 = 0xA
    static let continuation: UInt8 = 0x0
    /// How long a gateway may take to answer.
    static let patience = Duration.seconds(600)
    /// How often to connect, in case this process stalls before its request or its hello.
    private static let attempts = 5
    /// The gateway's message to a device that has sent nothing for ten seconds.
    private static let silenceMessage = Array("did not open its session within".utf8)

    private let inbound: NIOAsyncChannelInboundStream<ByteBuffer>
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let iterator: Reader

    /// Holds bytes that were read ahead.
    private final class Reader {
        var frames: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        var buffer = ByteBuffer()
        /// Whether any frame has come.
        var hasHeard = false

        init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) { frames = inbound.makeAsyncIterator() }

        /// - Returns: false at the end of the connection.
        func fill(to count: Int) async throws -> Bool {
            while buffer.readableBytes < count {
                guard var more = try await frames.next() else { return false }
                buffer.writeBuffer(&more)
            }
            return true
        }
    }

    /// The gateway ended the connection because it heard nothing for too long.
    private struct StoodStill: Error {}

    /// Connects, upgrades, runs `body` and closes. Starts over if this process stalled for too long meanwhile.
    /// - Parameter local: the address to connect from; on Linux, any in 127.0.0.0/8.
    static func with<R: Sendable>(
        _ server: Server, from local: String = "127.0.0.1", within limit: Duration = patience,
        _ body: @escaping @Sendable (RawSocket) async throws -> R
    ) async throws -> R {
        for _ in 0..<attempts {
            do {
                return try await connect(server, from: local, within: limit, body)
            } catch is StoodStill {
                continue
            }
        }
        throw EndToEndFailure("The gateway closed \(attempts) connections before they were open.")
    }

    private static func connect<R: Sendable>(
        _ server: Server, from local: String, within limit: Duration,
        _ body: @escaping @Sendable (RawSocket) async throws -> R
    ) async throws -> R {
        let (host, port) = await server.address
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(to: SocketAddress(ipAddress: local, port: 0))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await withThrowingTaskGroup(of: R.self) { group in
                group.addTask {
                    let socket = RawSocket(inbound: inbound, outbound: outbound, iterator: Reader(inbound))
                    try await socket.upgrade()
                    return try await body(socket)
                }
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw EndToEndFailure("A conversation with the gateway did not end within \(limit).")
                }
                defer { group.cancelAll() }
                guard let result = try await group.next() else { throw CancellationError() }
                return result
            }
        }
    }

    private func upgrade() async throws {
        let request = """
            GET /sync HTTP/1.1\r
            Host: gateway\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            \r

            """
        do {
            try await outbound.write(ByteBuffer(string: request))
            guard try await iterator.fill(to: 1) else { throw StoodStill() }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw StoodStill()
        }
        var head: [UInt8] = []
        while head.suffix(4) != Array("\r\n\r\n".utf8)[...] {
            guard try await iterator.fill(to: 1), let byte = iterator.buffer.readInteger(as: UInt8.self) else {
                throw EndToEndFailure("The gateway closed the connection during the upgrade.")
            }
            head.append(byte)
        }
        let text = String(decoding: head, as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 101") else { throw EndToEndFailure("No WebSocket: \(text)") }
    }

    /// Sends a masked frame.
    /// - Parameters:
    ///   - isLast: whether this is the last fragment of its message.
    ///   - claiming: the payload length to put in the header; the true length if nil.
    func send(
        _ payload: [UInt8], opcode: UInt8 = Self.binary, isLast: Bool = true, claiming: Int? = nil
    ) async throws {
        var buffer = ByteBuffer()
        buffer.writeInteger((isLast ? 0x80 : 0) | opcode)
        let length = claiming ?? payload.count
        switch length {
        case ..<126: buffer.writeInteger(0x80 | UInt8(length))
        case ..<65_536:
            buffer.writeInteger(UInt8(0x80 | 126))
            buffer.writeInteger(UInt16(length))
        default:
            buffer.writeInteger(UInt8(0x80 | 127))
            buffer.writeInteger(UInt64(length))
        }
        // An all-zero mask leaves the payload unchanged.
        buffer.writeInteger(UInt32(0))
        buffer.writeBytes(payload)
        do {
            try await outbound.write(buffer)
        } catch {
            guard !iterator.hasHeard, !Task.isCancelled else { throw error }
            throw StoodStill()
        }
    }

    func send(_ message: ClientMessage, codec: MessageCodec) async throws { try await send(codec.encode(message)) }

    /// The next message, or the end of the connection. Skips pings and pongs.
    func next() async throws -> Frame {
        while true {
            guard try await iterator.fill(to: 2),
                let head = iterator.buffer.readInteger(as: UInt8.self),
                let short = iterator.buffer.readInteger(as: UInt8.self)
            else { return .closed(code: nil) }
            var length = Int(short & 0x7F)
            if length == 126 {
                guard try await iterator.fill(to: 2) else { return .closed(code: nil) }
                length = Int(iterator.buffer.readInteger(as: UInt16.self) ?? 0)
            } else if length == 127 {
                guard try await iterator.fill(to: 8) else { return .closed(code: nil) }
                length = Int(iterator.buffer.readInteger(as: UInt64.self) ?? 0)
            }
            guard try await iterator.fill(to: length), let bytes = iterator.buffer.readBytes(length: length) else {
                return .closed(code: nil)
            }
            iterator.hasHeard = true
            switch head & 0x0F {
            case 0x2:
                if bytes.count < 1_000, bytes.firstRange(of: Self.silenceMessage) != nil { throw StoodStill() }
                return .message(bytes)
            case 0x8: return .closed(code: bytes.count < 2 ? nil : Int(bytes[0]) << 8 | Int(bytes[1]))
            default: continue
            }
        }
    }

    /// Reads until the gateway reports why the session failed.
    func failure(_ codec: MessageCodec) async throws -> SessionFailure {
        while true {
            guard case .message(let bytes) = try await next() else {
                throw EndToEndFailure("The gateway closed the connection without a failure.")
            }
            if case .failure(let failure) = try codec.decodeServerMessage(bytes) { return failure }
        }
    }
}
