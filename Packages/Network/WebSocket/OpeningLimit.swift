internal import NIOCore
internal import NIOWebSocket

/// Bounds what the other side may send until the limit is lifted, which removes the handler. It comes first, before
/// frames are assembled, so that excess data never accumulates in memory.
final class OpeningLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The bytes that may still arrive, or nil once the limit was exceeded.
    private var left: Int?

    init(byteCount: Int) { left = byteCount }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let left else { return }
        let byteCount = unwrapInboundIn(data).readableBytes
        guard byteCount <= left else {
            self.left = nil
            // The frame handler turns this into code 1009.
            context.fireErrorCaught(NIOWebSocketError.invalidFrameLength)
            return
        }
        self.left = left - byteCount
        context.fireChannelRead(data)
    }
}
