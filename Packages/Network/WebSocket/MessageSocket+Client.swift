public import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import NIOWebSocket

extension MessageSocket {
    /// The time limit for connecting, and again for TLS and the upgrade together.
    public static let connectTimeout = Duration.seconds(10)

    /// Opens a connection as a client.
    /// - Parameters:
    ///   - trustedCertificates: a PEM file with the only certificate authorities to trust for TLS, or nil for the
    ///     system's.
    ///   - timeout: the time limit for the network connection, and again for TLS and the upgrade.
    /// - Throws: ``MessageSocketError/refusedUpgrade(_:)``, ``MessageSocketError/noUpgrade(within:)``,
    ///   ``MessageSocketError/insecure(_:)`` or a network error.
    public static func connect(
        host: String, port: Int, path: String, usesTLS: Bool, trustedCertificates: String? = nil,
        group: any EventLoopGroup, timeout: Duration = connectTimeout
    ) async throws -> MessageSocket {
        // This reads files, so it doesn't run on an event loop.
        let context = usesTLS ? try tlsContext(trusting: trustedCertificates) : nil
        let upgrade = try await ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(timeout))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let promise = channel.eventLoop.makePromise(of: MessageSocket.self)
                    do {
                        if let context {
                            try channel.pipeline.syncOperations.addHandlers([
                                NIOSSLClientHandler(context: context, serverHostname: TLSClient.serverName(host)),
                                TLSFailureHandler(host: host) { promise.fail(MessageSocketError.insecure($0)) },
                            ])
                        }
                        limit(
                            try upgrading(channel, host: host, port: port, path: path), of: channel, to: timeout,
                            promise)
                    } catch {
                        promise.fail(error)
                        throw error
                    }
                    return promise.futureResult
                }
            }
        return try await upgrade.get()
    }

    private static func tlsContext(trusting trusted: String?) throws -> NIOSSLContext {
        do {
            return try NIOSSLContext(configuration: TLSClient.configuration(trusting: trusted))
        } catch {
            guard let trusted else { throw error }
            throw MessageSocketError.insecure("The trusted certificates in \(trusted) can't be read: \(error).")
        }
    }

    /// Closes the connection if the upgrade fails or takes too long. The promise may have failed before.
    private static func limit(
        _ upgrade: EventLoopFuture<MessageSocket>, of channel: any NIOCore.Channel, to timeout: Duration,
        _ promise: EventLoopPromise<MessageSocket>
    ) {
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            promise.fail(MessageSocketError.noUpgrade(within: timeout))
            channel.close(promise: nil)
        }
        upgrade.whenComplete { result in
            timer.cancel()
            promise.completeWith(result)
            if case .failure = result { channel.close(promise: nil) }
        }
    }

    /// The `Host` header of a request. An IPv6 address is in brackets there (RFC 3986 §3.2.2), but not in the host of
    /// a `URL`.
    package static func authority(_ host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func upgrading(
        _ channel: any NIOCore.Channel, host: String, port: Int, path: String
    ) throws -> EventLoopFuture<MessageSocket> {
        let upgrader = NIOTypedWebSocketClientUpgrader<MessageSocket>(
            maxFrameSize: maximumMessageByteCount, enableAutomaticErrorHandling: false
        ) { channel, head in
            channel.eventLoop.makeCompletedFuture {
                // RFC 6455 §4.1: the client didn't ask for these.
                for name in ["Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"]
                where head.headers.contains(name: name) {
                    throw MessageSocketError.refusedUpgrade("its answer has \(name), which wasn't requested.")
                }
                return try MessageSocket(upgraded: channel)
            }
        }
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: authority(host, port: port))
        headers.add(name: "Content-Length", value: "0")
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: headers)
        let configuration = NIOTypedHTTPClientUpgradeConfiguration<MessageSocket>(
            upgradeRequestHead: head, upgraders: [upgrader]
        ) { channel in
            channel.eventLoop.makeFailedFuture(
                MessageSocketError.refusedUpgrade("check the address, and that a gateway answers at \(path)."))
        }
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration<MessageSocket>(upgradeConfiguration: configuration)
        // A server's first frames may arrive in the same packet as its answer.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }
}
