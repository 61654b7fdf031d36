internal import NIOCore
internal import NIOWebSocket

/// Follows ``MessageSocketHandler`` on a client's connection. Puts messages into the inbox, and continues reading
/// while there is room.
final class MessageInboxHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = Never
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let inbox: MessageInbox
    private let liveness: Liveness
    private let onPing: @Sendable (ByteBuffer) -> Void
    private var context: ChannelHandlerContext?

    init(_ inbox: MessageInbox, _ liveness: Liveness, onPing: @escaping @Sendable (ByteBuffer) -> Void) {
        self.inbox = inbox
        self.liveness = liveness
        self.onPing = onPing
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        liveness.listen()
        switch frame.opcode {
        case .binary: inbox.add(frame.unmaskedData)
        case .ping: onPing(frame.unmaskedData)
        case .connectionClose: inbox.end(.success(()))
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        inbox.wake()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        let loop = context.eventLoop
        let handler = NIOLoopBound(self, eventLoop: loop)
        let isPutOff = inbox.putsOffReading { loop.execute { handler.value.readOn() } }
        if isPutOff { liveness.pause() } else { context.read() }
    }

    private func readOn() {
        liveness.listen()
        context?.read()
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        inbox.end(.failure(error))
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { inbox.end(.success(())) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.end(.success(()))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        inbox.end(.success(()))
    }
}
