internal import NIOCore
internal import NIOWebSocket

/// Writes messages, waiting while the network is full.
public struct MessageWriter: Sendable {
    let outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>

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
        WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
    }
}
