internal import NIOCore
internal import NIOHTTP1

/// Refuses a first request that isn't HTTP or has too many headers, and closes the connection. Removed once the
/// connection is known to be HTTP: from then on the HTTP server does this, after the answers in flight.
final class ParserErrorHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundOut = HTTPServerResponsePart

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else {
            context.fireErrorCaught(error)
            return
        }
        let headers: HTTPHeaders = ["Connection": "close", "Content-Length": "0"]
        let head = HTTPResponseHead(version: .http1_1, status: .badRequest, headers: headers)
        let channel = context.channel
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
