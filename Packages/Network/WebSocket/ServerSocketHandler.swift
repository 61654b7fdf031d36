internal import NIOCore
internal import NIOWebSocket

/// The last handler: passes messages to the receiver, answers pings, and reads only while messages are wanted.
final class ServerSocketHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private var receiver: (any MessageReceiver)?
    private var context: ChannelHandlerContext?
    /// Also true until there is a receiver.
    private var isPaused = true
    private var hasHeldRead = false
    /// The latest ping that came while the network was full. Only that one needs an answer (RFC 6455 §5.5.3).
    private var unanswered: ByteBuffer?

    func start(_ receiver: any MessageReceiver) {
        self.receiver = receiver
        resume()
    }

    func pause() { isPaused = true }

    func resume() {
        isPaused = false
        guard hasHeldRead else { return }
        hasHeldRead = false
        context?.read()
    }

    func write(_ frame: WebSocketFrame) { context?.write(wrapOutboundOut(frame), promise: nil) }

    func flush() { context?.flush() }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        context = nil
        let receiver = receiver
        self.receiver = nil
        receiver?.closed()
    }

    func read(context: ChannelHandlerContext) {
        if isPaused { hasHeldRead = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        receiver?.heard()
        switch frame.opcode {
        case .binary: receiver?.received(frame.unmaskedData)
        case .ping: answer(frame.unmaskedData, context)
        default: break
        }
    }

    private func answer(_ ping: ByteBuffer, _ context: ChannelHandlerContext) {
        guard context.channel.isWritable else {
            unanswered = ping
            return
        }
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .pong, data: ping)), promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        if isWritable, let ping = unanswered {
            unanswered = nil
            answer(ping, context)
        }
        receiver?.writabilityChanged(to: isWritable)
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent: receiver?.shouldClose()
        // The other side writes no more, so it can't answer a close frame. Without that answer, anything that it still
        // reads would be lost.
        case ChannelEvent.inputClosed: context.close(promise: nil)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The frame handler has told the other side, which then ends the connection.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
