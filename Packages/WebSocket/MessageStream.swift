public import NIOCore
internal import NIOWebSocket

/// The binary messages of a connection, one at a time: the next is not taken off the network before it is asked for,
/// beyond a few that the channel holds.
public struct MessageStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    let inbound: NIOAsyncChannelInboundStream<WebSocketFrame>
    let writer: MessageWriter
    let liveness: Liveness

    public func makeAsyncIterator() -> Iterator {
        Iterator(frames: inbound.makeAsyncIterator(), writer: writer, liveness: liveness)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
        let writer: MessageWriter
        let liveness: Liveness

        public mutating func next() async throws -> ByteBuffer? {
            while let frame = try await frames.next() {
                liveness.heard()
                switch frame.opcode {
                case .binary: return frame.unmaskedData
                case .ping: try await writer.pong(frame.unmaskedData)
                case .pong: continue
                case .connectionClose:
                    try? await writer.close(.normalClosure)
                    return nil
                case .text: throw MessageSocketError.unexpectedFrame("text")
                default: throw MessageSocketError.unexpectedFrame("reserved")
                }
            }
            return nil
        }
    }
}
