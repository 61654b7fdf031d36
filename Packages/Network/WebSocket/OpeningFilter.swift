internal import NIOCore
internal import NIOHTTP1

/// Precedes NIO's upgrade handler for a connection's first request. If that handler doesn't perform a requested
/// upgrade, it drops the request's head, and the request is never answered. So it only gets to see upgrades that it
/// will perform.
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
        // Whatever follows may be frames.
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
