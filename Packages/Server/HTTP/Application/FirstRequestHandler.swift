import NIOCore

/// Closes a connection that hasn't sent the head of its first request in time, however much it sends. The handler is
/// first in the pipeline, before anything is parsed, and removes itself at the empty line after the head.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?
    /// Whether a non-empty line has begun.
    private var hasBegun = false
    /// How many line feeds have come since the last byte of a line. Two of them mean an empty line.
    private var lineFeedCount = 0

    init(timeout: TimeAmount) { self.timeout = timeout }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let isComplete = endsHead(unwrapInboundIn(data))
        context.fireChannelRead(data)
        guard isComplete else { return }
        timer?.cancel()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// A line ends with a line feed, which a carriage return may precede (RFC 9112, section 2.2). Empty lines before
    /// the request line don't end a head.
    private func endsHead(_ buffer: ByteBuffer) -> Bool {
        for byte in buffer.readableBytesView {
            switch byte {
            case UInt8(ascii: "\n"):
                lineFeedCount += 1
                if hasBegun, lineFeedCount == 2 { return true }
            case UInt8(ascii: "\r"): break
            default:
                hasBegun = true
                lineFeedCount = 0
            }
        }
        return false
    }
}
