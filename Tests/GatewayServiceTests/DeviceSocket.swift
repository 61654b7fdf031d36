import NIOCore
import NIOPosix
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloWebSocket

/// A device's connection that sends and reads only what a test tells it to.
final class DeviceSocket {
    /// How long it waits for a gateway, which runs in the test's own process and may stall for a while.
    private static let patience = Duration.seconds(600)

    let codec: MessageCodec
    let writer: MessageWriter
    private var messages: MessageStream.Iterator

    private init(_ schema: Schema, _ messages: MessageStream, _ writer: MessageWriter) {
        codec = MessageCodec(schema: schema)
        self.writer = writer
        self.messages = messages.makeAsyncIterator()
    }

    /// Connects, runs `body` and closes.
    static func with(
        _ schema: Schema, port: Int, _ body: @escaping @Sendable (DeviceSocket) async throws -> Void
    ) async throws {
        let socket = try await MessageSocket.connect(
            host: "127.0.0.1", port: port, path: "/sync", usesTLS: false, group: MultiThreadedEventLoopGroup.singleton,
            timeout: patience)
        try await socket.run(silenceLimit: patience) { messages, writer in
            try await body(DeviceSocket(schema, messages, writer))
        }
    }

    func send(_ message: ClientMessage) async throws { try await writer.write(codec.encode(message)) }

    /// Sends the hello of a device that has nothing yet.
    /// - Parameters:
    ///   - client: a new one if nil.
    ///   - classes: the classes whose objects it wants; all classes if nil.
    ///   - token: the access token.
    ///   - position: the position that it claims to be at.
    func sayHello(
        as client: ClientID? = nil, wanting classes: [String]? = nil, token: String = "token",
        at position: TomboloSyncProtocol.Position = .none
    ) async throws {
        var generator = SystemRandomNumberGenerator()
        let everything = (classes ?? codec.schema.classes.map(\.name)).map {
            Subscription(name: $0, className: $0, predicate: .constant(true))
        }
        try await send(
            .hello(
                Hello(
                    accessToken: token, client: client ?? .random(using: &generator), position: position,
                    activeSubscriptions: .empty,
                    wantedSubscriptions: SubscriptionSet(version: 1, subscriptions: everything), acknowledged: 0,
                    classes: HelloClass.describe(codec.schema))))
    }

    /// The next message, or nil at the end of the connection. Doesn't acknowledge batches.
    func next() async throws -> ServerMessage? {
        guard let bytes = try await messages.next() else { return nil }
        return try codec.decodeServerMessage(Array(bytes.readableBytesView))
    }

    /// Reads until `pick` returns something; nil at the end of the connection. Reports every batch as applied.
    func first<R>(_ pick: (ServerMessage) -> R?) async throws -> R? {
        while let message = try await next() {
            // If the gateway has since closed the connection, what it sent before is still to be read.
            if case .end(let end) = message { try? await send(.applied(tick: end.position.tick)) }
            if let found = pick(message) { return found }
        }
        return nil
    }

    func firstEnd(_ isWanted: (BatchEnd) -> Bool = { _ in true }) async throws -> BatchEnd? {
        try await first { if case .end(let end) = $0, isWanted(end) { end } else { nil } }
    }

    func failure() async throws -> SessionFailure? {
        try await first { if case .failure(let failure) = $0 { failure } else { nil } }
    }
}
