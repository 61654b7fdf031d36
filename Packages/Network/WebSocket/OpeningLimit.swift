internal import NIOCore
internal import NIOWebSocket
internal import Synchronization

/// The number of bytes the other side may still send, until the limit is lifted. Shared by the handler, which counts
/// down on the event loop, and the session, which lifts it.
final class OpeningLimit: Sendable {
    private let left: Mutex<Int?>

    init(byteCount: Int) { left = Mutex(byteCount) }

    func lift() { left.withLock { $0 = nil } }

    /// - Returns: whether the bytes are within the limit.
    func take(_ byteCount: Int) -> Bool {
        left.withLock { left in
            guard let before = left else { return true }
            left = max(0, before - byteCount)
            return byteCount <= before
        }
    }
}

/// Comes first, before frames are assembled, so that excess data never accumulates in memory.
final class OpeningLimitHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let limit: OpeningLimit
    private var isExceeded = false

    init(_ limit: OpeningLimit) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isExceeded else { return }
        guard limit.take(unwrapInboundIn(data).readableBytes) else {
            isExceeded = true
            // The frame handler turns this into code 1009.
            context.fireErrorCaught(NIOWebSocketError.invalidFrameLength)
            return
        }
        context.fireChannelRead(data)
    }
}
