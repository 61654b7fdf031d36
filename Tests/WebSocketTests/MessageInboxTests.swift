import NIOCore
import NIOEmbedded
import NIOWebSocket
import Testing

@testable import TomboloWebSocket

/// Messages on their way from a client's event loop to their reader.
@Suite struct MessageInboxTests {
    /// Counts the reads that get as far as the network.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = WebSocketFrame
        typealias OutboundOut = WebSocketFrame

        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    private let inbox = MessageInbox()

    private func channel() async throws -> NIOAsyncTestingChannel {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext { [inbox] in
            try channel.pipeline.syncOperations.addHandlers([
                ReadCounter(), MessageInboxHandler(inbox, Liveness(), onPing: { _ in }),
            ])
        }
        try await channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere"))
        return channel
    }

    private func frame(_ bytes: [UInt8], _ opcode: WebSocketOpcode = .binary) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: opcode, data: ByteBuffer(bytes: bytes))
    }

    private func take() async throws -> [[UInt8]]? {
        try await inbox.take()?.map { Array($0.readableBytesView) }
    }

    @Test("Waiting messages are taken together, even after the end of the connection")
    func together() async throws {
        let channel = try await channel()
        for byte in UInt8(1)...3 { try await channel.writeInbound(frame([byte])) }
        #expect(try await take() == [[1], [2], [3]])
        try await channel.writeInbound(frame([4]))
        try await channel.writeInbound(frame([], .connectionClose))
        try await channel.writeInbound(frame([5]))
        #expect(try await take() == [[4]])
        #expect(try await take() == nil)
        #expect(try await take() == nil)
        _ = try await channel.finish()
    }

    @Test("A waiting reader gets what arrives, and then how the connection ended")
    func waiting() async throws {
        let channel = try await channel()
        async let taken = take()
        try await channel.writeInbound(frame([1]))
        #expect(try await taken == [[1]])
        let more = Task { [inbox] in try await inbox.take() }
        channel.pipeline.fireErrorCaught(MessageSocketError.violation(code: 1002, reason: "nonsense"))
        await #expect(throws: MessageSocketError.self) { _ = try await more.value }
        _ = try? await channel.finish()
    }

    @Test("A reader that is cancelled stops waiting")
    func cancelling() async {
        let inbox = inbox
        let early = Task { try await inbox.take() }
        early.cancel()
        await #expect(throws: CancellationError.self) { _ = try await early.value }
        let late = Task { try await inbox.take() }
        await Task.yield()
        late.cancel()
        await #expect(throws: CancellationError.self) { _ = try await late.value }
    }

    @Test("Nothing is read from the network while too much is waiting, and reading resumes once it is taken")
    func bounded() async throws {
        let channel = try await channel()
        func reads() async throws -> Int {
            try await channel.testingEventLoop.executeInContext {
                try channel.pipeline.syncOperations.handler(type: ReadCounter.self).count
            }
        }
        let before = try await reads()
        channel.read()
        await channel.testingEventLoop.run()
        #expect(try await reads() == before + 1)
        let message = [UInt8](repeating: 0, count: MessageInbox.maximumByteCount / 2)
        for _ in 0..<2 { try await channel.writeInbound(frame(message)) }
        channel.read()
        await channel.testingEventLoop.run()
        #expect(try await reads() == before + 1)
        #expect(try await take()?.count == 2)
        await channel.testingEventLoop.run()
        #expect(try await reads() == before + 2)
        // Reading has resumed only once.
        try await channel.writeInbound(frame([1]))
        #expect(try await take() == [[1]])
        await channel.testingEventLoop.run()
        #expect(try await reads() == before + 2)
        _ = try await channel.finish()
    }
}
