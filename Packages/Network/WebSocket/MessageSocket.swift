package import NIOCore
internal import NIOWebSocket

/// One WebSocket connection that carries whole binary messages, on either side. Pings, fragments and closing
/// (RFC 6455) are dealt with here; docs/websocket.md says what is refused and with which code.
public struct MessageSocket: Sendable {
    /// The largest message that is accepted, in bytes; a peer that sends more is closed with code 1009.
    public static let maximumMessageByteCount = 20 << 20
    /// The fragments of one message; with more of them the connection is closed with code 1009.
    public static let maximumFragmentCount = 4_096
    /// Messages that wait for their reader; nothing more is taken off the network meanwhile.
    static let maximumWaitingMessages = 1
    /// How often the other side is pinged.
    public static let pingInterval = Duration.seconds(15)
    /// A client that hears nothing from the server for so long takes the connection for dead.
    public static let silenceLimit = Duration.seconds(45)
    /// A server is more patient: a client that stands still for a minute does not answer pings meanwhile.
    public static let serverSilenceLimit = Duration.seconds(90)

    /// The closing handshake may take so long; then the network connection is closed without it.
    public static let closeTimeout = Duration.seconds(5)

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
        try pipeline.addHandler(MessageSocketHandler(isClient: isClient))
        self.channel = try Channel(
            wrappingChannelSynchronously: channel,
            configuration: .init(
                backPressureStrategy: .init(
                    lowWatermark: Self.maximumWaitingMessages, highWatermark: Self.maximumWaitingMessages),
                inboundType: WebSocketFrame.self, outboundType: WebSocketFrame.self))
        self.isClient = isClient
    }

    /// Closes a connection that is not run, with code 1001. Every one is run or closed.
    public func close() async { try? await channel.executeThenClose { _, _ in } }

    /// Runs the connection until `body` returns or throws, or the other side is silent for too long; then closes it:
    /// with code 1000 after `body` returned, 1001 when the task is cancelled, and 1011 when a server's `body` throws.
    /// Returns when the network connection is closed, ``closeTimeout`` later at most.
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
                    do {
                        try await body(messages, writer)
                    } catch {
                        if !isClient, !(error is CancellationError) {
                            network.triggerUserOutboundEvent(
                                SocketCommand.closeWith(.unexpectedServerError), promise: nil)
                        }
                        throw error
                    }
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
                    network.triggerUserOutboundEvent(SocketCommand.drop, promise: nil)
                    throw MessageSocketError.silent(silenceLimit)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}
