import NIOCore

/// Closes a connection whose client reads too slowly, however much is waiting for it. A client that reads a byte now and then
/// could otherwise keep an answer in memory, or an export's connection to the database, for as long as it likes.
///
/// What the system takes counts as taken by the client. So that this isn't megabytes at a time, the system is told to take
/// little beyond what the network has room for.
final class SlowReaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// What the system keeps that it can't send yet, in bytes; it says that there's room when half of it is sent.
    private static let unsentByteCount: CInt = 128 << 10
    #if os(Linux)
        /// TCP_NOTSENT_LOWAT of include/uapi/linux/tcp.h.
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 25)
    #else
        /// TCP_NOTSENT_LOWAT of netinet/tcp.h.
        private static let unsentOption = NIOBSDSocket.Option(rawValue: 0x201)
    #endif

    private let timeout: TimeAmount
    private let minimumByteCount: Int
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - timeout: how long a full connection may take less than
    ///   - minimumByteCount: so many bytes.
    init(timeout: TimeAmount, minimumByteCount: Int) {
        self.timeout = timeout
        self.minimumByteCount = minimumByteCount
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // Not every system has it, nor what isn't TCP.
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

    /// Nothing is added while a connection is full, but what one writer had begun.
    private static func waitingByteCount(_ channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
