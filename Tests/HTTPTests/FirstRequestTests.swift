import NIOCore
import NIOEmbedded
import Testing

@testable import TomboloHTTP

/// The time that a connection has for its first request, with a test clock.
struct FirstRequestTests {
    @Test(
        "only a complete request head keeps a connection open; empty lines before it don't",
        arguments: [
            ("", false), ("\r\n\r\n", false), ("\n\n\n", false), ("\r\n\r\nGET / HTTP/1.1\r\n", false),
            ("GET / HTTP/1.1\r\n\r\n", true), ("\r\n\r\nGET / HTTP/1.1\r\nHost: test\r\n\r\n", true),
        ])
    func head(_ text: String, _ isKept: Bool) throws {
        let channel = EmbeddedChannel(handler: FirstRequestHandler(timeout: .seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for byte in text.utf8 { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive == isKept)
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
