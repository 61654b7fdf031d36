public import NIOCore
internal import NIOWebSocket

/// The binary messages of a connection. Beyond one buffered message, nothing is read from the network until it's asked
/// for.
public struct MessageStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    let inbound: NIOAsyncChannelInboundStream<WebSocketFrame>
    let liveness: Liveness
    let onPing: @Sendable (ByteBuffer) -> Void

    public func makeAsyncIterator() -> Iterator {
        Iterator(frames: inbound.makeAsyncIterator(), liveness: liveness, onPing: onPing)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
        let liveness: Liveness
        let onPing: @Sendable (ByteBuffer) -> Void

        /// The next message, or nil when the connection has ended. Never writes, since two sides that both wait for the
        /// other to read would wait forever.
        public mutating func next() async throws -> ByteBuffer? {
            liveness.listen()
            while let frame = try await frames.next() {
                liveness.listen()
                switch frame.opcode {
                case .binary:
                    liveness.pause()
                    return frame.unmaskedData
                case .ping: onPing(frame.unmaskedData)
                case .connectionClose: return nil
                default: continue
                }
            }
            return nil
        }
    }
}
