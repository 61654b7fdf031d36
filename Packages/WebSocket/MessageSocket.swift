package import Logging
public import NIOCore
public import NIOWebSocket

/// One WebSocket connection that carries whole binary messages, on either side. Pings, fragments and closing
/// (RFC 6455) are dealt with here.
public struct MessageSocket: Sendable {
    /// The largest message that is accepted, in bytes; a peer that sends more is closed with code 1009.
    public static let maximumMessageByteCount = 20 << 20
    /// Fragments of one message.
    static let maximumFragmentCount = 4_096
    /// How often the other side is pinged.
    public static let pingInterval = Duration.seconds(15)
    /// Without any frame from the other side for so long, the connection counts as dead.
    public static let silenceLimit = Duration.seconds(45)

    public typealias Channel = NIOAsyncChannel<WebSocketFrame, WebSocketFrame>

    private let channel: Channel
    private let isClient: Bool
    private let logger: Logger

    package init(channel: Channel, isClient: Bool, logger: Logger) {
        self.channel = channel
        self.isClient = isClient
        self.logger = logger
    }

    /// Adds the handlers that put fragments together and wraps the channel; called on its event loop.
    package static func wrap(_ channel: any NIOCore.Channel) throws -> Channel {
        try channel.pipeline.syncOperations.addHandler(
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: maximumFragmentCount,
                maxAccumulatedFrameSize: maximumMessageByteCount))
        return try Channel(
            wrappingChannelSynchronously: channel,
            configuration: .init(inboundType: WebSocketFrame.self, outboundType: WebSocketFrame.self))
    }

    /// Runs the connection until `body` returns or throws, or the other side is silent for too long; then closes it.
    /// - Parameter body: gets the messages and a writer; both end when the connection does.
    public func run(
        _ body: @escaping @Sendable (MessageStream, MessageWriter) async throws -> Void
    ) async throws {
        let isClient = isClient
        try await channel.executeThenClose { inbound, outbound in
            let liveness = Liveness()
            let writer = MessageWriter(outbound: outbound, isClient: isClient)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    let messages = MessageStream(inbound: inbound, writer: writer, liveness: liveness)
                    try await body(messages, writer)
                    try? await writer.close(.normalClosure)
                }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.pingInterval)
                        guard liveness.silence < Self.silenceLimit else { throw MessageSocketError.silent }
                        try await writer.ping()
                    }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

/// Why a connection ended before its time.
public enum MessageSocketError: Error, Sendable, CustomStringConvertible {
    /// The other side sent nothing for ``MessageSocket/silenceLimit``.
    case silent
    /// Text or another frame that the protocol does not use.
    case unexpectedFrame(String)
    /// The server answered the upgrade with something else.
    case refusedUpgrade(String)

    public var description: String {
        switch self {
        case .silent: "The other side sent nothing for \(MessageSocket.silenceLimit); the connection counts as dead."
        case .unexpectedFrame(let kind): "A \(kind) frame came where only binary messages are used."
        case .refusedUpgrade(let reason): "The server did not open a WebSocket: \(reason)"
        }
    }
}
