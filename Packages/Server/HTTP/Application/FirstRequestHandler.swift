import NIOCore

/// Closes a connection that has not sent the head of its first request in time, however busily it sends. Stands first,
/// before anything is parsed, and leaves once the empty line after the head has come.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let timeout: TimeAmount
    private var timer: Scheduled<Void>?
    /// Whether a line with something in it has begun.
    private var hasBegun = false
    /// Whether the last line so far is empty: line feeds since the last byte of a line.
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

    /// A line ends with a line feed, before which a carriage return may stand (RFC 9112, section 2.2). Empty lines
    /// before the request line end no head.
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
