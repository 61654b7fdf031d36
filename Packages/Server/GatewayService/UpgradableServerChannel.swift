import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOHTTP1
package import TomboloHTTP
package import TomboloWebSocket

/// A server's connection that serves HTTP, or becomes a WebSocket if the client asks for one at `path`. It's closed if
/// the client does neither within the limits' idle timeout.
package struct UpgradableServerChannel: ServerChildChannel {
    package enum Upgrade: Sendable {
        case http(HTTPServerChannel.Value)
        /// From then on served on its event loop, without a task.
        case socket
    }

    package struct Value: ServerChildChannelValue {
        package let upgrade: EventLoopFuture<Upgrade>
        package let channel: any Channel
    }

    private let http: HTTPServerChannel
    private let path: String
    private let limits: HTTPLimits
    private let openingByteCount: Int
    private let onSocket: @Sendable (ServerSocket, _ address: String, Logger) -> Void

    /// - Parameters:
    ///   - http: serves the connections that don't become a WebSocket.
    ///   - limits: the limits for headers and idle connections, and the proxies that are trusted to report the address
    ///     of a WebSocket's client.
    ///   - openingByteCount: the most bytes that a WebSocket's client may send before it is trusted.
    ///   - onSocket: starts serving a WebSocket on its event loop. Receives the client's IP address, or an empty
    ///     string if there is none.
    package init(
        http: HTTPServerChannel, path: String, limits: HTTPLimits, openingByteCount: Int,
        onSocket: @escaping @Sendable (ServerSocket, _ address: String, Logger) -> Void
    ) {
        self.http = http
        self.path = path
        self.limits = limits
        self.openingByteCount = openingByteCount
        self.onSocket = onSocket
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(.recvAllocator, value: SparingReceiveAllocator())
            let path = path
            let (http, openingByteCount, trustedProxies) = (http, openingByteCount, limits.trustedProxies)
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
                    // Responses are encoded by what writes them.
                    handlers.removeHandler(try handlers.handler(type: HTTPResponseEncoder.self), promise: nil)
                    return Upgrade.http(try http.attach(to: channel))
                }
            }
            var pipeline = NIOUpgradableHTTPServerPipelineConfiguration(upgradeConfiguration: upgrading)
            // `HTTPServerChannel` handles all three itself. NIO's handlers for parser errors and pipelining would answer
            // a request that breaks off a second time, which traps.
            pipeline.enablePipelining = false
            pipeline.enableErrorHandling = false
            pipeline.enableResponseHeaderValidation = false
            pipeline.decoderConfiguration = limits.decoder
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
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(limits.idleTimeout)) { channel.close(promise: nil) }
        upgrade.whenComplete { result in
            timer.cancel()
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    package func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.upgrade.get() {
            case .http(let connection): await http.handle(value: connection, logger: logger)
            case .socket: return
            }
        } catch {
            logger.debug("A connection closed before its first request: \(error)")
        }
    }
}
