import NIOCore

/// Is first in a connection's pipeline until it is clear whether the connection begins with a PROXY header, which the
/// handler removes. It holds back whatever arrives meanwhile; then the code that serves the connection is set up.
///
/// Waiting. Next: settled, refused. Settled: `onSettled` sets up what follows. When its result completes, everything
/// goes on, and the handler removes itself. Final. Refused: the connection is closed. Final.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private enum State {
        case waiting, settled, refused
    }

    private let isRequired: Bool
    private let timeout: TimeAmount
    private let onSettled: (ProxyHeader?) -> EventLoopFuture<Void>
    private let onRefused: (ProxyRefusal) -> Void
    private var state = State.waiting
    private var held = ByteBuffer()
    private var timer: Scheduled<Void>?

    /// - Parameters:
    ///   - isRequired: whether there must be a header. Otherwise there must be none.
    ///   - timeout: for the header, or for the bytes that show that there is none.
    ///   - onSettled: is called on the event loop with the header, or with nil if there is none.
    ///   - onRefused: is called instead if the connection ends, or the handler ends it.
    init(
        isRequired: Bool, timeout: TimeAmount, onSettled: @escaping (ProxyHeader?) -> EventLoopFuture<Void>,
        onRefused: @escaping (ProxyRefusal) -> Void
    ) {
        self.isRequired = isRequired
        self.timeout = timeout
        self.onSettled = onSettled
        self.onRefused = onRefused
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeout) {
            let (handler, context) = bound.value
            handler.refuse(.late, context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        refuse(.ended, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        refuse(.ended, context)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The server is shutting down, or the client has gone: a connection that hasn't begun shouldn't delay that, or
        // count for its address any longer.
        if event is ChannelShouldQuiesceEvent || event as? ChannelEvent == .inputClosed { refuse(.ended, context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .refused else { return }
        held.writeImmutableBuffer(unwrapInboundIn(data))
        guard state == .waiting else { return }
        do throws(ProxyHeaderError) {
            switch try ProxyHeaderParser.parse(
                Array(held.readableBytesView.prefix(ProxyHeaderParser.maximumByteCount)))
            {
            case .incomplete: break
            case .absent where isRequired: refuse(.missing, context)
            case .absent: settle(nil, context)
            case .header where !isRequired: refuse(.untrusted, context)
            case .header(let header, let byteCount):
                held.moveReaderIndex(forwardBy: byteCount)
                settle(header, context)
            }
        } catch {
            refuse(isRequired ? .malformed(error) : .untrusted, context)
        }
    }

    private func settle(_ header: ProxyHeader?, _ context: ChannelHandlerContext) {
        state = .settled
        timer?.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        onSettled(header).whenComplete { result in
            let (handler, context) = bound.value
            guard case .success = result else { return context.close(promise: nil) }
            if handler.held.readableBytes > 0 {
                context.fireChannelRead(handler.wrapInboundOut(handler.held))
                context.fireChannelReadComplete()
            }
            handler.held.clear()
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }

    private func refuse(_ refusal: ProxyRefusal, _ context: ChannelHandlerContext) {
        guard state == .waiting else { return }
        state = .refused
        timer?.cancel()
        held.clear()
        onRefused(refusal)
        context.close(promise: nil)
    }
}
