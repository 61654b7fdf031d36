package import NIOCore
internal import NIOWebSocket

/// One WebSocket connection that carries whole binary messages, on either side. Pings, fragments and closing
/// (RFC 6455) are dealt with here.
public struct MessageSocket: Sendable {
    /// The largest message that is accepted, in bytes; a peer that sends more is closed with code 1009.
    public static let maximumMessageByteCount = 20 << 20
    /// Fragments of one message.
    static let maximumFragmentCount = 4_096
    /// Messages that wait for their reader; nothing more is taken off the network meanwhile.
    static let maximumWaitingMessages = 1
    /// How often the other side is pinged.
    public static let pingInterval = Duration.seconds(15)
    /// A client that hears nothing from the server for so long takes the connection for dead.
    public static let silenceLimit = Duration.seconds(45)
    /// A server is more patient: a client that stands still for a minute does not answer pings meanwhile.
    public static let serverSilenceLimit = Duration.seconds(90)

    typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private let channel: Channel
    private let limit: OpeningLimit?
    private let isClient: Bool

    /// Makes a channel after its upgrade one; called on its event loop.
    /// - Parameter openingByteCount: what the other side may send at all until ``MessageStream/liftOpeningLimit()``.
    package init(upgraded channel: any NIOCore.Channel, isClient: Bool, openingByteCount: Int? = nil) throws {
        let pipeline = channel.pipeline.syncOperations
        limit = openingByteCount.map(OpeningLimit.init(byteCount:))
        if let limit { try pipeline.addHandler(OpeningLimitHandler(limit), position: .first) }
        // Puts fragments together.
        try pipeline.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.maximumFragmentCount,
                maxAccumulatedFrameSize: Self.maximumMessageByteCount))
        try pipeline.addHandler(FragmentErrorHandler(isClient: isClient))
        self.channel = try Channel(
            wrappingChannelSynchronously: channel,
            configuration: .init(
                backPressureStrategy: .init(
                    lowWatermark: Self.maximumWaitingMessages, highWatermark: Self.maximumWaitingMessages),
                inboundType: WebSocketFrame.self, outboundType: WebSocketFrame.self))
        self.isClient = isClient
    }

    /// Closes a connection that is not run. Every one is run or closed.
    public func close() async { try? await channel.executeThenClose { _, _ in } }

    /// Runs the connection until `body` returns or throws, or the other side is silent for too long; then closes it.
    /// - Parameters:
    ///   - silenceLimit: ``silenceLimit`` or ``serverSilenceLimit`` where nil.
    ///   - body: gets the messages and a writer; both end when the connection does.
    public func run(
        silenceLimit: Duration? = nil,
        _ body: @escaping @Sendable (MessageStream, MessageWriter) async throws -> Void
    ) async throws {
        let silenceLimit = silenceLimit ?? (isClient ? Self.silenceLimit : Self.serverSilenceLimit)
        let network = channel.channel
        try await channel.executeThenClose { inbound, outbound in
            let liveness = Liveness()
            let writer = MessageWriter(outbound: outbound, channel: network, isClient: isClient)
            // Only the newest ping has to be answered (RFC 6455 §5.5.3).
            let (pings, addPing) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let messages = MessageStream(
                        inbound: inbound, limit: limit, liveness: liveness, onPing: { addPing.yield($0) })
                    try await body(messages, writer)
                    liveness.listen()
                    try? await writer.close(.normalClosure)
                }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.pingInterval)
                        try await writer.ping()
                    }
                }
                group.addTask {
                    for await data in pings { try await writer.pong(data) }
                }
                group.addTask {
                    // Writes nothing: a network that takes nothing must not keep it from looking.
                    while liveness.silence < silenceLimit {
                        try await Task.sleep(for: silenceLimit - liveness.silence)
                    }
                    network.close(promise: nil)
                    throw MessageSocketError.silent(silenceLimit)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

/// Why a connection ended before its time.
public enum MessageSocketError: Error, Sendable, CustomStringConvertible {
    /// The other side sent nothing for so long.
    case silent(Duration)
    /// Text or another frame that the protocol does not use.
    case unexpectedFrame(String)
    /// The server answered the upgrade with something else.
    case refusedUpgrade(String)
    /// The server did not answer the upgrade.
    case noUpgrade(within: Duration)

    public var description: String {
        switch self {
        case .silent(let time): "The other side sent nothing for \(time); the connection counts as dead."
        case .unexpectedFrame(let kind): "A \(kind) frame came where only binary messages are used."
        case .refusedUpgrade(let reason): "The server did not open a WebSocket: \(reason)"
        case .noUpgrade(let time): "The server did not open a WebSocket within \(time)."
        }
    }
}
