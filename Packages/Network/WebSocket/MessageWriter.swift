internal import NIOCore
internal import NIOWebSocket

/// Writes messages, waiting while the network is full.
public struct MessageWriter: Sendable {
    let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    let channel: any NIOCore.Channel
    let isClient: Bool

    /// The number of bytes written but not yet passed to the operating system.
    public func pendingByteCount() async throws -> Int {
        try await channel.getOption(.bufferedWritableBytes).get()
    }

    /// The number of bytes the other side's operating system has confirmed since the connection began, or nil if this
    /// system doesn't know. It grows in small steps, unlike ``pendingByteCount()``, which hides megabytes in this
    /// system's own buffer.
    public func confirmedByteCount() async throws -> Int? {
        #if os(Linux)
            guard let provider = channel as? any SocketOptionProvider else { return nil }
            let information: TCPInformation = try await provider.unsafeGetSocketOption(level: .tcp, name: .tcp_info)
                .get()
            return information.confirmedByteCount > 0 ? Int(clamping: information.confirmedByteCount) : nil
        #else
            return nil
        #endif
    }

    /// Writes several binary messages with one flush.
    public func write(_ messages: [[UInt8]]) async throws {
        try await outbound.write(
            contentsOf: messages.map { frame(.binary, ByteBuffer(bytes: $0)) })
    }

    /// Writes one binary message.
    public func write(_ message: [UInt8]) async throws {
        try await outbound.write(frame(.binary, ByteBuffer(bytes: message)))
    }

    func ping() async throws { try await outbound.write(frame(.ping, ByteBuffer())) }

    func pong(_ data: ByteBuffer) async throws { try await outbound.write(frame(.pong, data)) }

    func close(_ code: WebSocketErrorCode) async throws {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        try await outbound.write(frame(.connectionClose, data))
    }

    /// Clients mask their frames (RFC 6455 §5.3).
    private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: isClient ? .random() : nil, data: data)
    }
}
