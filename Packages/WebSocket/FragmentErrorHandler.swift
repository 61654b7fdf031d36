internal import NIOCore
internal import NIOWebSocket

/// Closes the connection with a code (RFC 6455 §7.4.1) when fragments make no message, or too long a one.
final class FragmentErrorHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let isClient: Bool
    private var isClosing = false

    init(isClient: Bool) { self.isClient = isClient }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketFrameAggregator.Error, !isClosing {
            isClosing = true
            var data = ByteBuffer()
            data.write(webSocketErrorCode: Self.code(of: error))
            let frame = WebSocketFrame(
                fin: true, opcode: .connectionClose, maskKey: isClient ? .random() : nil, data: data)
            let channel = context.channel
            context.writeAndFlush(wrapOutboundOut(frame)).whenComplete { _ in channel.close(promise: nil) }
        }
        context.fireErrorCaught(error)
    }

    private static func code(of error: NIOWebSocketFrameAggregator.Error) -> WebSocketErrorCode {
        switch error {
        case .accumulatedFrameSizeIsTooLarge, .tooManyFragments: .messageTooLarge
        default: .protocolError
        }
    }
}
