import NIOCore

/// Closes a connection whose client reads too slowly, no matter how much is waiting for it. Otherwise a client that
/// reads a byte now and then could keep an answer in memory, or an export's database connection, for as long as it
/// likes.
///
/// Bytes that the operating system accepts count as read by the client. To keep that from being megabytes at a time,
/// the system is told to accept little more than the network has room for.
final class SlowReaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// How many unsent bytes the operating system buffers. It reports room when half of them are sent.
    private static let unsentByteCount: CInt = 128 << 10
    #if os(Linux)
        /// TCP_NOTSENT_LOWAT in include/uapi/linux/tcp.h.
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 25)
    #else
        /// TCP_NOTSENT_LOWAT in netinet/tcp.h.
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 0x201)
    #endif

    private let timeout: TimeAmount
    private let minimumByteCount: Int
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - timeout: how long a full connection may take to read `minimumByteCount`.
    ///   - minimumByteCount: how many bytes it must read in each `timeout`.
    init(timeout: TimeAmount, minimumByteCount: Int) {
        self.timeout = timeout
        self.minimumByteCount = minimumByteCount
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // Not every system has this option, and only TCP does.
        try? context.channel.syncOptions?.setOption(
            .tcpOption(Self.unsentOption), value: SocketOptionValue(Self.unsentByteCount))
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        if !context.channel.isWritable { watch(context) }
        context.fireChannelWritabilityChanged()
    }

    private func watch(_ context: ChannelHandlerContext) {
        let before = Self.waitingByteCount(context.channel)
        let (handler, bound) = (NIOLoopBound(self, eventLoop: context.eventLoop), context.loopBound)
        timer = context.eventLoop.scheduleTask(in: timeout) { [minimumByteCount] in
            let context = bound.value
            if before - Self.waitingByteCount(context.channel) < minimumByteCount {
                context.close(promise: nil)
            } else {
                handler.value.watch(context)
            }
        }
    }

    /// While a connection is full, nothing is added but the rest of what a writer had begun.
    private static func waitingByteCount(_ channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
