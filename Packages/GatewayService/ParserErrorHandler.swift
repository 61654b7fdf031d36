internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose request is none, or has more headers than are taken; the refusal was written before.
final class ParserErrorHandler: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        if error is HTTPParserError { context.close(promise: nil) }
    }
}
