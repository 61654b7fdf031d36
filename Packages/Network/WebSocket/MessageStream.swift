public import NIOCore
internal import NIOWebSocket

/// The binary messages of a connection, one at a time: the next is not taken off the network before it is asked for,
/// beyond one that the channel holds.
public struct MessageStream: AsyncSequence, Sendable {
    public typealias Element = ByteBuffer

    let inbound: NIOAsyncChannelInboundStream<WebSocketFrame>
    let limit: OpeningLimit?
    let liveness: Liveness
    let onPing: @Sendable (ByteBuffer) -> Void

    /// From now on the other side may send as much as it likes, in messages of no more than
    /// ``MessageSocket/maximumMessageByteCount``.
    public func liftOpeningLimit() { limit?.lift() }

    public func makeAsyncIterator() -> Iterator {
        Iterator(frames: inbound.makeAsyncIterator(), liveness: liveness, onPing: onPing)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var frames: NIOAsyncChannelInboundStream<WebSocketFrame>.AsyncIterator
        let liveness: Liveness
        let onPing: @Sendable (ByteBuffer) -> Void

        /// Writes nothing: two sides that both wait until the other reads would wait for ever.
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
