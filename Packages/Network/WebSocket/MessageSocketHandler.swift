internal import NIOCore
internal import NIOWebSocket

/// Follows NIO's frame decoder, passes on messages and control frames that ``FrameReader`` accepts, and conducts the
/// closing handshake (RFC 6455 §7), whichever side starts it.
///
/// The kernel resets a connection that's closed with unread bytes, and a reset can overtake the last messages and the
/// close frame. So while closing, input is read and discarded until the other side closes too, up to
/// ``MessageSocket/closeTimeout`` and ``MessageSocket/maximumMessageByteCount``.
final class MessageSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private enum State {
        /// To `closing` when we close, to `ended` when the other side does or breaks a rule.
        case open
        /// Our close frame was sent, the other side's hasn't arrived. To `ended`.
        case closing
        /// Waiting only for the network connection to end.
        case ended
    }

    private let isClient: Bool
    private var reader: FrameReader
    private var state = State.open
    private var codeWhenClosed = WebSocketErrorCode.goingAway
    private var isInputClosed = false
    private var timer: Scheduled<Void>?
    private var discardedByteCount = 0

    init(isClient: Bool) {
        self.isClient = isClient
        reader = FrameReader(isClient: isClient)
    }

    /// Starts a new interval for counting the other side's pings and pongs.
    func countControlFramesAnew() { reader.didPing() }

    // MARK: Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard state != .ended else { return discard(frame.length, context) }
        do throws(FrameViolation) {
            guard let message = try reader.receive(frame) else { return }
            if message.opcode == .connectionClose {
                otherSideClosed(message, context)
            } else if state == .open {
                context.fireChannelRead(wrapInboundOut(message))
            } else {
                discard(frame.length, context)
            }
        } catch {
            fail(error, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // The reader of messages, which would otherwise ask for more, may be gone.
        if state != .open { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case let error as NIOWebSocketError: fail(FrameViolation(error), context)
        case ByteToMessageDecoderError.dataReceivedInErrorState(_, let data): discard(data.readableBytes, context)
        default: context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isInputClosed = true
            if state != .open { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

    // MARK: Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // RFC 6455 §5.5.1: nothing follows a close frame.
        guard state == .open else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data).opcode {
        case .connectionClose: beginClosing(context)
        case .ping: reader.didPing()
        default: break
        }
        context.write(data, promise: promise)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let command = event as? SocketCommand else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        switch command {
        case .closeWith(let code): codeWhenClosed = code
        case .drop:
            state = .ended
            context.close(promise: nil)
        }
        promise?.succeed()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .all, context.channel.isActive, !(isInputClosed && state != .open) else {
            context.close(mode: mode, promise: promise)
            return
        }
        context.channel.closeFuture.cascade(to: promise)
        guard state == .open else { return }
        let written = writeClose(codeWhenClosed, context)
        if isInputClosed { drop(after: written, context) }
        beginClosing(context)
    }

    // MARK: Closing

    private func beginClosing(_ context: ChannelHandlerContext) {
        state = .closing
        startTimer(context)
        context.read()
    }

    /// Answers a close frame with its own code. The server ends the network connection first (RFC 6455 §7.1.1).
    private func otherSideClosed(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        let isAnswer = state == .closing
        state = .ended
        startTimer(context)
        if isAnswer {
            if !isClient { context.close(promise: nil) }
            return
        }
        var data = frame.data
        let written = writeClose(data.readWebSocketErrorCode(), context)
        context.fireChannelRead(wrapInboundOut(frame))
        endOutput(after: written, context)
    }

    private func fail(_ violation: FrameViolation, _ context: ChannelHandlerContext) {
        guard state != .ended else { return }
        let isAnnounced = state == .closing
        state = .ended
        if isAnnounced {
            context.close(promise: nil)
            return
        }
        startTimer(context)
        let written = writeClose(violation.code, context)
        context.fireErrorCaught(MessageSocketError(violation))
        endOutput(after: written, context)
    }

    private func writeClose(_ code: WebSocketErrorCode?, _ context: ChannelHandlerContext) -> EventLoopFuture<Void> {
        var data = ByteBuffer()
        if let code { data.write(webSocketErrorCode: code) }
        let frame = WebSocketFrame(
            fin: true, opcode: .connectionClose, maskKey: isClient ? .random() : nil, data: data)
        return context.writeAndFlush(wrapOutboundOut(frame))
    }

    /// A server ends its side but still receives what's in flight; a client waits for that.
    private func endOutput(after written: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
        if isInputClosed {
            drop(after: written, context)
        } else if !isClient {
            let channel = context.channel
            written.whenComplete { _ in channel.close(mode: .output, promise: nil) }
        }
        context.read()
    }

    private func drop(after written: EventLoopFuture<Void>, _ context: ChannelHandlerContext) {
        let channel = context.channel
        written.whenComplete { _ in channel.triggerUserOutboundEvent(SocketCommand.drop, promise: nil) }
    }

    private func startTimer(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: TimeAmount(MessageSocket.closeTimeout)) {
            channel.triggerUserOutboundEvent(SocketCommand.drop, promise: nil)
        }
    }

    private func discard(_ byteCount: Int, _ context: ChannelHandlerContext) {
        discardedByteCount += byteCount
        if discardedByteCount > MessageSocket.maximumMessageByteCount { context.close(promise: nil) }
    }
}
