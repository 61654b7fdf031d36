public import Logging
public import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

extension MessageSocket {
    /// Connecting, including TLS and the upgrade, takes no longer.
    public static let connectTimeout = Duration.seconds(10)

    /// Opens a connection as a client.
    /// - Throws: ``MessageSocketError/refusedUpgrade(_:)`` or a network error.
    public static func connect(
        host: String, port: Int, path: String, usesTLS: Bool, group: any EventLoopGroup, logger: Logger
    ) async throws -> MessageSocket {
        let upgrade = try await ClientBootstrap(group: group)
            .connectTimeout(.seconds(connectTimeout.components.seconds))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if usesTLS {
                        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: host))
                    }
                    return try upgrading(channel, host: host, port: port, path: path)
                }
            }
        return MessageSocket(channel: try await upgrade.get(), isClient: true, logger: logger)
    }

    private static func upgrading(
        _ channel: any NIOCore.Channel, host: String, port: Int, path: String
    ) throws -> EventLoopFuture<Channel> {
        let upgrader = NIOTypedWebSocketClientUpgrader<Channel>(maxFrameSize: maximumMessageByteCount) { channel, _ in
            channel.eventLoop.makeCompletedFuture { try wrap(channel) }
        }
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: "\(host):\(port)")
        headers.add(name: "Content-Length", value: "0")
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<Channel>(
            upgradeRequestHead: head, upgraders: [upgrader]
        ) { channel in
            channel.eventLoop.makeFailedFuture(
                MessageSocketError.refusedUpgrade("check the address, and that a gateway answers at \(path)."))
        }
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: configuration))
    }
}
