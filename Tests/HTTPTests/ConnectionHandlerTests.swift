import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import TomboloHTTP

@Suite struct ConnectionHandlerTests {
    private static let head = HTTPServerRequestPart.head(
        HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))

    /// - Returns: the number of the request with the streamed body.
    private static func takeStreamed(_ handler: ConnectionHandler) throws -> Int {
        guard case .answer(_, .streamed(let number)) = handler.nextRequest() else {
            throw CancellationError()
        }
        return number
    }

    @Test("Cancelling the wait for one request's body late doesn't break the next request's")
    func lateCancellation() throws {
        let handler = ConnectionHandler(idleTimeout: .seconds(60))
        let channel = EmbeddedChannel(handler: handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try channel.writeInbound(Self.head)
        let first = try Self.takeStreamed(handler)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(try handler.nextBodyPart(of: first) == .some(nil))
        let keepsAlive = handler.beginAnswer()
        handler.endAnswer(keepsAlive: keepsAlive)
        try channel.writeInbound(Self.head)
        let second = try Self.takeStreamed(handler)
        handler.cancelBody(of: first)
        let bytes = ByteBuffer(string: "body")
        try channel.writeInbound(HTTPServerRequestPart.body(bytes))
        #expect(try handler.nextBodyPart(of: second) == bytes)
        handler.cancelBody(of: second)
        #expect(throws: CancellationError.self) { try handler.nextBodyPart(of: second) }
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    /// Holds back what is sent, like a client that takes nothing.
    private final class Dam: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        func flush(context: ChannelHandlerContext) {}

        func open(_ channel: EmbeddedChannel) throws {
            try channel.pipeline.syncOperations.context(handler: self).flush()
        }
    }

    @Test("A client that takes the end of its answer slowly isn't idle; one that takes nothing of it is")
    func slowEnd() throws {
        let (dam, handler) = (Dam(), ConnectionHandler(idleTimeout: .nanoseconds(1)))
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers(dam, handler)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        guard case .answer = handler.nextRequest() else { throw CancellationError() }
        let keepsAlive = handler.beginAnswer()
        handler.write(ByteBuffer(repeating: 1, count: 3_000))
        handler.endAnswer(keepsAlive: keepsAlive)
        // It has taken most of it, but not all.
        try dam.open(channel)
        handler.write(ByteBuffer(repeating: 1, count: 1_000))
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
