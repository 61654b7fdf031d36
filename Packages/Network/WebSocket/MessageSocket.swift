package import NIOCore
internal import NIOWebSocket

/// A client's end of a WebSocket connection that carries whole binary messages. It handles pings, fragments and closing
/// (RFC 6455); docs/websocket.md lists what is refused with which code. A server has a ``ServerSocket``.
public struct MessageSocket: Sendable {
    /// The largest accepted message in bytes. A larger one closes the connection with code 1009.
    public static let maximumMessageByteCount = 20 << 20
    /// The maximum number of fragments in a message. More close the connection with code 1009.
    public static let maximumFragmentCount = 4_096
    /// How often a client pings the server: often enough for proxies that close silent connections after a minute,
    /// and rarely enough to spare a phone's battery.
    public static let pingInterval = Duration.seconds(40)
    /// A client that hears nothing from the server for this long considers the connection dead.
    public static let silenceLimit = Duration.seconds(60)
    /// The time limit for the closing handshake. After that, the network connection is closed without it.
    public static let closeTimeout = Duration.seconds(5)

    /// The channel yields no messages: they go through the inbox.
    typealias Channel = NIOAsyncChannel<Never, WebSocketFrame>

    private let channel: Channel
    private let inbox = MessageInbox()
    private let liveness = Liveness()
    private let pings: AsyncStream<ByteBuffer>

    /// Wraps an upgraded channel. Call on its event loop.
    package init(upgraded channel: any NIOCore.Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        // Only the latest ping needs an answer (RFC 6455 §5.5.3).
        let (pings, addPing) = AsyncStream.makeStream(of: ByteBuffer.self, bufferingPolicy: .bufferingNewest(1))
        self.pings = pings
        try pipeline.addHandlers([
            MessageSocketHandler(isClient: true),
            MessageInboxHandler(inbox, liveness, onPing: { addPing.yield($0) }),
        ])
        self.channel = try Channel(
            wrappingChannelSynchronously: channel,
            configuration: .init(inboundType: Never.self, outboundType: WebSocketFrame.self))
    }

    /// Closes a connection that was never run, with code 1001. Every connection must be run or closed.
    public func close() async { try? await channel.executeThenClose { _, _ in } }

    /// Runs the connection until `body` returns or throws, or the other side is silent for too long. Then closes it:
    /// with code 1000 if `body` returned, 1001 if it threw or the task was cancelled. Returns when the network connection is
    /// closed, at most ``closeTimeout`` later.
    /// - Parameters:
    ///   - silenceLimit: how long the other side may be silent.
    ///   - body: receives the messages and a writer; both end with the connection.
    public func run(
        silenceLimit: Duration = silenceLimit,
        _ body: @escaping @Sendable (MessageStream, MessageWriter) async throws -> Void
    ) async throws {
        let network = channel.channel
        liveness.listen()
        try await channel.executeThenClose { _, outbound in
            let writer = MessageWriter(outbound: outbound)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await body(MessageStream(inbox: inbox), writer)
                    liveness.listen()
                    try? await writer.close(.normalClosure)
                }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.pingInterval)
                        // If the connection is gone, the messages end as well. A body that then returned still ended
                        // normally.
                        try? await writer.ping()
                    }
                }
                group.addTask {
                    for await data in pings { try? await writer.pong(data) }
                }
                group.addTask {
                    // This task doesn't write, because a blocked network must not keep it from watching.
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
