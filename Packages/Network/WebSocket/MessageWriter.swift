internal import NIOCore
internal import NIOWebSocket

/// Writes messages; waits while the network does not take more.
public struct MessageWriter: Sendable {
    let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    let channel: any NIOCore.Channel
    let isClient: Bool

    /// What was written and is not with the operating system yet, in bytes.
    public func pendingByteCount() async throws -> Int {
        try await channel.getOption(.bufferedWritableBytes).get()
    }

    /// What the other side's operating system has confirmed since the connection began, in bytes, or nil where this
    /// system doesn't say. Goes on in small steps, unlike ``pendingByteCount()``, behind which lie megabytes of this
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

    /// Writes messages with one flush.
    public func write(_ messages: [[UInt8]]) async throws {
        try await outbound.write(
            contentsOf: messages.map { frame(.binary, ByteBuffer(bytes: $0)) })
    }

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

    /// Clients mask what they send (RFC 6455 §5.3).
    private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, maskKey: isClient ? .random() : nil, data: data)
    }
}
