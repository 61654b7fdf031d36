public import HummingbirdCore
public import Logging
public import NIOCore
internal import NIOHTTP1
public import NIOHTTPTypes
package import TomboloHTTP
package import TomboloWebSocket
internal import NIOHTTPTypesHTTP1

/// A Hummingbird server's connection that serves HTTP, or becomes a WebSocket if the client asks for one at `path`.
/// It's closed if the client does neither within the configuration's idle timeout.
public struct UpgradableServerChannel: ServerChildChannel, HTTPChannelHandler {
    public typealias HTTPChannel = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    package enum Upgrade: Sendable {
        case http(HTTPChannel)
        /// From then on served on its event loop, without a task.
        case socket
    }

    public struct Value: ServerChildChannelValue {
        package let upgrade: EventLoopFuture<Upgrade>
        public let channel: any Channel
    }

    public let responder: HTTPChannelHandler.Responder
    private let path: String
    private let configuration: HTTP1Channel.Configuration
    private let openingByteCount: Int
    private let trustedProxies: TrustedProxies
    private let onSocket: @Sendable (ServerSocket, _ address: String, Logger) -> Void

    /// - Parameters:
    ///   - configuration: the limits for headers and idle connections.
    ///   - openingByteCount: the most bytes that a WebSocket's client may send before it is trusted.
    ///   - trustedProxies: the proxies that are trusted to report the address of a WebSocket's client.
    ///   - onSocket: starts serving a WebSocket on its event loop. Receives the client's IP address, or an empty
    ///     string if there is none.
    package init(
        responder: @escaping HTTPChannelHandler.Responder, path: String, configuration: HTTP1Channel.Configuration,
        openingByteCount: Int, trustedProxies: TrustedProxies = .none,
        onSocket: @escaping @Sendable (ServerSocket, _ address: String, Logger) -> Void
    ) {
        self.responder = responder
        self.path = path
        self.configuration = configuration
        self.openingByteCount = openingByteCount
        self.trustedProxies = trustedProxies
        self.onSocket = onSocket
    }

    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(.recvAllocator, value: SparingReceiveAllocator())
            let path = path
            let configuration = configuration
            let openingByteCount = openingByteCount
            let trustedProxies = trustedProxies
            let onSocket = onSocket
            let peer = channel.peerAddress
            let upgrader = MessageSocket.serverUpgrader(path: path, openingByteCount: openingByteCount) {
                socket, head in
                let handlers = socket.channel.pipeline.syncOperations
                if let errors = try? handlers.context(handlerType: ParserErrorHandler.self) {
                    handlers.removeHandler(context: errors, promise: nil)
                }
                onSocket(
                    socket,
                    trustedProxies.clientAddress(
                        peer: peer, forwarded: head.headers["Forwarded"],
                        forwardedFor: head.headers["X-Forwarded-For"]), logger)
                return Upgrade.socket
            }
            let upgrading = NIOTypedHTTPServerUpgradeConfiguration<Upgrade>(upgraders: [upgrader]) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    handlers.removeHandler(try handlers.handler(type: ParserErrorHandler.self), promise: nil)
                    try handlers.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    try handlers.addHandlers(configuration.additionalChannelHandlers())
                    try handlers.addHandler(
                        HTTPConnectionStateHandler(
                            idleTimeout: configuration.idleTimeout.map { Duration($0) }, logger: logger))
                    return Upgrade.http(
                        try HTTPChannel(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true)))
                }
            }
            var pipeline = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrading)
            // Hummingbird's own server does the same, and handles all three itself. NIO's handlers for parser errors
            // and pipelining would answer a request that breaks off a second time, which traps.
            pipeline.enablePipelining = false
            pipeline.enableErrorHandling = false
            pipeline.enableResponseHeaderValidation = false
            pipeline.decoderConfiguration.maxHeaderFieldSize = configuration.httpDecoder.maxHeaderFieldSize
            pipeline.decoderConfiguration.maxHeaderListSize = configuration.httpDecoder.maxHeaderListSize
            pipeline.decoderConfiguration.maxHeaderFieldCount = configuration.httpDecoder.maxHeaderFieldCount
            let upgrade = try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
                configuration: pipeline)
            try MessageSocket.filterOpenings(of: channel, path: path, for: Upgrade.self)
            try channel.pipeline.syncOperations.addHandler(ParserErrorHandler())
            closeUnlessDecided(channel, upgrade)
            return Value(upgrade: upgrade, channel: channel)
        }
    }

    /// Closes a connection whose first request never arrives or can't be served.
    private func closeUnlessDecided(_ channel: any Channel, _ upgrade: EventLoopFuture<Upgrade>) {
        let timer = configuration.idleTimeout.map { time in
            channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
        }
        upgrade.whenComplete { result in
            timer?.cancel()
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    public func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.upgrade.get() {
            case .http(let channel): await handleHTTP(asyncChannel: channel, logger: logger)
            case .socket: return
            }
        } catch {
            logger.debug("A connection closed before its first request: \(error)")
        }
    }
}
