public import HummingbirdCore
public import Logging
public import NIOCore
internal import NIOHTTP1
public import NIOHTTPTypes
public import TomboloWebSocket
internal import NIOHTTPTypesHTTP1
internal import NIOWebSocket

/// A Hummingbird server's connection that serves HTTP, or becomes a WebSocket where the client asks for one at
/// `path`.
public struct UpgradableServerChannel: ServerChildChannel, HTTPChannelHandler {
    public typealias HTTPChannel = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    package enum Upgrade: Sendable {
        case http(HTTPChannel)
        case socket(MessageSocket.Channel)
    }

    public struct Value: ServerChildChannelValue {
        package let upgrade: EventLoopFuture<Upgrade>
        public let channel: any Channel
    }

    public let responder: HTTPChannelHandler.Responder
    private let path: String
    private let onSocket: @Sendable (MessageSocket, Logger) async -> Void

    public init(
        responder: @escaping HTTPChannelHandler.Responder, path: String,
        onSocket: @escaping @Sendable (MessageSocket, Logger) async -> Void
    ) {
        self.responder = responder
        self.path = path
        self.onSocket = onSocket
    }

    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let path = path
            let upgrader = NIOTypedWebSocketServerUpgrader<Upgrade>(
                maxFrameSize: MessageSocket.maximumMessageByteCount,
                shouldUpgrade: { channel, head in
                    channel.eventLoop.makeSucceededFuture(head.uri == path ? HTTPHeaders() : nil)
                },
                upgradePipelineHandler: { channel, _ in
                    channel.eventLoop.makeCompletedFuture { Upgrade.socket(try MessageSocket.wrap(channel)) }
                })
            let configuration = NIOTypedHTTPServerUpgradeConfiguration<Upgrade>(upgraders: [upgrader]) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    return Upgrade.http(
                        try HTTPChannel(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true)))
                }
            }
            let upgrade = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                configuration: .init(upgradeConfiguration: configuration))
            return Value(upgrade: upgrade, channel: channel)
        }
    }

    public func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.upgrade.get() {
            case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
            case .socket(let channel):
                await onSocket(MessageSocket(channel: channel, isClient: false, logger: logger), logger)
            }
        } catch {
            logger.debug("A connection ended before its first request: \(error)")
        }
    }
}
