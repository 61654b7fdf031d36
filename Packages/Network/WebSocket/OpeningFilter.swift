internal import NIOCore
internal import NIOHTTP1

/// Stands before NIO's upgrade handler for the first request of a connection. When that handler does not carry out an
/// upgrade which a request asks for, it drops the request's head, and the request never gets an answer. So it only sees
/// those that it will carry out.
final class OpeningFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private let path: String

    init(path: String) { self.path = path }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        if !MessageSocket.isOpening(head, path: path) { head.headers.remove(name: "Upgrade") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
        // What follows may be frames.
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
