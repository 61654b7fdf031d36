import NIOCore
import NIOEmbedded
import NIOWebSocket
import RandomValues
import Testing

@testable import TomboloWebSocket

/// The closing handshake without a network, on a clock that the test advances.
@Suite struct ClosingTests {
    private static func channel(isClient: Bool) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(
            ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: MessageSocket.maximumMessageByteCount)))
        try pipeline.addHandler(MessageSocketHandler(isClient: isClient))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/nowhere")).wait()
        return channel
    }

    /// The bytes sent.
    private static func sent(_ channel: EmbeddedChannel) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += Array(buffer.readableBytesView) }
        return bytes
    }

    @Test("A closing server sends a close frame and keeps reading until the client closes")
    func handshake() throws {
        let channel = try Self.channel(isClient: false)
        channel.close(promise: nil)
        #expect(try Self.sent(channel) == RawFrame.close(1001).bytes(fromClient: false))
        #expect(channel.isActive)
        let message = RawFrame(opcode: RawFrame.binary, payload: [1])
        try channel.writeInbound(ByteBuffer(bytes: message.bytes(fromClient: true)))
        #expect(channel.isActive)
        #expect(try channel.readInbound(as: WebSocketFrame.self) == nil)
        try channel.writeInbound(ByteBuffer(bytes: RawFrame.close(1001).bytes(fromClient: true)))
        #expect(!channel.isActive)
        #expect(try Self.sent(channel).isEmpty)
    }

    @Test("The wait for the closing handshake is bounded", arguments: [true, false])
    func timeout(_ isClient: Bool) throws {
        let channel = try Self.channel(isClient: isClient)
        channel.close(promise: nil)
        channel.embeddedEventLoop.advanceTime(by: TimeAmount(MessageSocket.closeTimeout) - .milliseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
    }

    @Test("A client told to close waits, for a bounded time, for the server to end the connection")
    func clientWaits() throws {
        let channel = try Self.channel(isClient: true)
        try channel.writeInbound(ByteBuffer(bytes: RawFrame.close(1012).bytes(fromClient: false)))
        #expect(try channel.readInbound(as: WebSocketFrame.self)?.opcode == .connectionClose)
        let answer = try Self.sent(channel)
        #expect(answer.prefix(2) == [0x88, 0x82])
        channel.close(promise: nil)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: TimeAmount(MessageSocket.closeTimeout))
        #expect(!channel.isActive)
    }

    @Test("A protocol violation after the close frame ends the connection at once")
    func violationWhileClosing() throws {
        let channel = try Self.channel(isClient: false)
        channel.close(promise: nil)
        _ = try Self.sent(channel)
        _ = try? channel.writeInbound(ByteBuffer(bytes: RawFrame(opcode: 0xB).bytes(fromClient: true)))
        #expect(!channel.isActive)
    }

    @Test("A closing side reads a bounded number of bytes")
    func discarding() throws {
        let channel = try Self.channel(isClient: true)
        channel.close(promise: nil)
        let message = RawFrame(opcode: RawFrame.binary, payload: Array(repeating: 0, count: 1 << 20))
        let bytes = ByteBuffer(bytes: message.bytes(fromClient: false))
        var count = 0
        while channel.isActive, count < 100 {
            try channel.writeInbound(bytes)
            count += 1
        }
        #expect(count == (MessageSocket.maximumMessageByteCount >> 20) + 1)
    }

    @Test("Nothing is written after a close frame")
    func silence() throws {
        let channel = try Self.channel(isClient: false)
        channel.triggerUserOutboundEvent(SocketCommand.closeWith(.unexpectedServerError), promise: nil)
        channel.close(promise: nil)
        #expect(try Self.sent(channel) == RawFrame.close(1011).bytes(fromClient: false))
        #expect(throws: ChannelError.self) {
            try channel.writeOutbound(WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: [1])))
        }
        #expect(try Self.sent(channel).isEmpty)
    }

    @Test("Random bytes give messages or a refusal, and at most one close frame", arguments: [true, false])
    func randomBytes(_ isClient: Bool) throws {
        var generator = SeededGenerator.printed(for: "random frames")
        for round in 0..<2_000 {
            let channel = try Self.channel(isClient: isClient)
            var bytes = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Half of them start with a valid byte, so that not all are refused right there.
            if round.isMultiple(of: 2) {
                bytes[0] = [0x82, 0x02, 0x88, 0x89][Int.random(in: 0..<4, using: &generator)]
            }
            for byte in bytes { _ = try? channel.writeInbound(ByteBuffer(bytes: [byte])) }
            let sent = try Self.sent(channel)
            #expect(sent.isEmpty || sent[0] == 0x88, "\(bytes)")
            #expect(sent.count <= 2 + (isClient ? 4 : 0) + 2, "\(bytes)")
            channel.triggerUserOutboundEvent(SocketCommand.drop, promise: nil)
            #expect(!channel.isActive)
        }
    }
}
