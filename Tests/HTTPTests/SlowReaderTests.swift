import Hummingbird
import NIOCore
import NIOEmbedded
import NIOPosix
import ServiceTestSupport
import Synchronization
import Testing

@testable import TomboloHTTP

/// Clients that request large answers and don't read them.
@Suite(.timeLimit(.minutes(15))) struct SlowReaderTests {
    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Far more than both systems' buffers hold.
    private static let largeByteCount = 8 << 20
    private static let request = ByteBuffer(string: "GET /large HTTP/1.1\r\nHost: test\r\n\r\n")

    /// For servers that keep connections however long they are idle.
    private static var limits: HTTPLimits {
        var limits = HTTPLimits.patient
        limits.idleTimeout = .seconds(600)
        return limits
    }

    /// - Parameter onEnd: called when an endless answer has ended.
    private static func application(
        _ limits: HTTPLimits, onEnd: @escaping @Sendable () -> Void = {}
    ) -> HTTPApplication {
        HTTPTests.application(limits: limits) {
            $0.on(.get, "/large", access: .open(because: "test")) { _, _, _ in
                ByteBuffer(repeating: UInt8(ascii: "x"), count: largeByteCount)
            }
            $0.on(.get, "/endless", access: .open(because: "test")) { _, _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        defer { onEnd() }
                        while true { try await writer.write(ByteBuffer(repeating: 0, count: 64 << 10)) }
                    })
            }
        }
    }

    /// Opens a connection that reads only a few buffers ahead unless asked for more.
    private static func connect(_ port: Int) async throws -> Connection {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Otherwise the system sizes its buffer as it likes.
            .channelOption(.socketOption(.so_rcvbuf), value: 64 << 10)
            .connect(to: SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
            }
    }

    /// Reads an answer until it or the connection ends.
    /// - Returns: how many bytes of `/large`'s body arrived.
    private static func byteCount(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) async -> Int {
        var (count, head): (Int, [UInt8]?) = (0, [])
        do {
            for try await var buffer in inbound {
                if var begun = head {
                    begun += buffer.readBytes(length: buffer.readableBytes) ?? []
                    head = begun
                    if let end = begun.indices.first(where: { begun[$0...].starts(with: "\r\n\r\n".utf8) }) {
                        count = begun.count - end - 4
                        head = nil
                    }
                } else {
                    count += buffer.readableBytes
                }
                if count >= largeByteCount { break }
            }
        } catch {}
        return count
    }

    private static func wait(until isTrue: () -> Bool) async throws {
        while !isTrue() { try await Task.sleep(for: .milliseconds(5)) }
    }

    // MARK: Memory

    @Test("If nobody reads an address's answers, one is dropped to make room for another, which is served")
    func addressesHaveABudget() async throws {
        var limits = Self.limits
        limits.answerBytesPerAddress = 2 * Self.largeByteCount
        let application = Self.application(limits)
        let answers = application.answers
        try await application.live { port in
            try await Self.connect(port).executeThenClose { firstInbound, outbound in
                try await outbound.write(Self.request)
                try await Self.wait { answers.byteCount == Self.largeByteCount }
                try await Self.connect(port).executeThenClose { secondInbound, outbound in
                    try await outbound.write(Self.request)
                    try await Self.wait { answers.byteCount == 2 * Self.largeByteCount }
                    let count = try await Self.connect(port).executeThenClose { inbound, outbound in
                        try await outbound.write(Self.request)
                        return await Self.byteCount(inbound)
                    }
                    #expect(count == Self.largeByteCount)
                    let counts = [await Self.byteCount(firstInbound), await Self.byteCount(secondInbound)]
                    #expect(counts.count { $0 == Self.largeByteCount } == 1, "\(counts)")
                }
            }
            try await Self.wait { answers.byteCount == 0 }
            #expect(answers.maximumByteCount == 2 * Self.largeByteCount)
        }
    }

    @Test("A client that starts reading late gets everything if nobody else needs the room")
    func lateReadersAreServed() async throws {
        let application = Self.application(Self.limits)
        try await application.live { port in
            let reader = try await Self.connect(port)
            try await reader.executeThenClose { inbound, outbound in
                try await outbound.write(Self.request)
                try await Self.wait { application.answers.byteCount == Self.largeByteCount }
                #expect(await Self.byteCount(inbound) == Self.largeByteCount)
            }
            try await Self.wait { application.answers.byteCount == 0 }
        }
    }

    @Test("An answer that is never written is no longer counted")
    func droppedAnswers() async throws {
        let budget = AnswerBudget(HTTPLimits())
        let channel = NIOAsyncTestingChannel()
        do {
            var response = Response(
                status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 1, count: 100_000)))
            let source = ApplicationRequestContextSource(channel: channel, logger: LogRecorder().logger)
            await budget.hold(&response, for: EdgeContext(source: source))
            #expect(budget.byteCount == 100_000)
            #expect(response.headers[.contentLength] == "100000")
        }
        #expect(budget.byteCount == 0)
    }

    @Test("A client that reads nothing of a large answer loses its connection")
    func stalledAnswersEnd() async throws {
        var limits = Self.limits
        limits.stallTimeout = .milliseconds(200)
        let application = Self.application(limits)
        try await application.live { port in
            try await Self.connect(port).executeThenClose { inbound, outbound in
                try await outbound.write(Self.request)
                try await Self.wait { application.answers.maximumByteCount > 0 }
                try await Self.wait { application.answers.byteCount == 0 }
                #expect(await Self.byteCount(inbound) < Self.largeByteCount)
            }
        }
    }

    @Test("A client that reads nothing of a stream loses its connection")
    func stalledStreamsEnd() async throws {
        var limits = Self.limits
        limits.stallTimeout = .milliseconds(200)
        let hasEnded = Mutex(false)
        try await Self.application(limits) { hasEnded.withLock { $0 = true } }.live { port in
            try await Self.connect(port).executeThenClose { _, outbound in
                try await outbound.write(ByteBuffer(string: "GET /endless HTTP/1.1\r\nHost: test\r\n\r\n"))
                try await Self.wait { hasEnded.withLock { $0 } }
            }
        }
    }

    // MARK: Progress

    private static let timeout = TimeAmount.seconds(75)

    /// A connection whose send buffer is full, with this many bytes waiting.
    private static func full(_ byteCount: Int) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: SlowReaderHandler(timeout: timeout, minimumByteCount: 64 << 10))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        channel.write(ByteBuffer(repeating: 0, count: byteCount), promise: nil)
        setWritable(channel, false)
        return channel
    }

    private static func setWritable(_ channel: EmbeddedChannel, _ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
    }

    @Test("A connection whose client takes nothing in time is closed, and not before")
    func nothingTaken() throws {
        let channel = try Self.full(100_000)
        channel.embeddedEventLoop.advanceTime(by: Self.timeout - .nanoseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test("A connection stays open while its client takes enough, even if its buffer stays full")
    func enoughTaken() throws {
        let channel = try Self.full(100_000)
        channel.flush()
        channel.write(ByteBuffer(repeating: 0, count: 30_000), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: Self.timeout)
        #expect(channel.isActive)
        // 30,000 bytes aren't enough.
        channel.flush()
        channel.embeddedEventLoop.advanceTime(by: Self.timeout)
        #expect(!channel.isActive)
    }

    @Test("A connection whose buffer isn't full has no time limit")
    func notFull() throws {
        let channel = try Self.full(100_000)
        channel.embeddedEventLoop.advanceTime(by: Self.timeout - .nanoseconds(1))
        Self.setWritable(channel, true)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
