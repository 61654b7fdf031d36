public import HummingbirdCore
public import Logging
public import NIOCore
import NIOSSL
import TomboloAuthentication

/// A server's connections behind two bounds: a limit for each address, and a deadline by which a connection must have
/// finished TLS and sent its first request. A connection too many gets the answer 429 and is closed. If the answer
/// would cost a handshake, it is closed at once. Connections of trusted proxies aren't counted, since they carry
/// everybody's requests. If proxies speak the PROXY protocol, the address in its header counts, and everything else
/// begins after the header.
public struct GuardedServerChannel<Base: ServerChildChannel>: ServerChildChannel {
    public struct Value: ServerChildChannelValue {
        let admission: EventLoopFuture<Admission>
        public let channel: any Channel
    }

    enum Admission: Sendable {
        /// - Parameter peer: the address in the PROXY header; nil for the socket's own address.
        case served(Base.Value, peer: String?)
        case turnedAway
    }

    private let base: Base
    private let limits: HTTPLimits
    private let certificate: TLSCertificate?
    private let staysOnEventLoop: Bool
    private let door: ConnectionDoor
    private let refusals = ProxyRefusalLog()

    /// - Parameters:
    ///   - certificate: the certificate for TLS; nil without TLS.
    ///   - staysOnEventLoop: whether the tasks that serve a connection run on its event loop.
    public init(
        base: Base, limits: HTTPLimits, certificate: TLSCertificate? = nil, staysOnEventLoop: Bool = false
    ) {
        self.staysOnEventLoop = staysOnEventLoop
        self.base = base
        self.limits = limits
        self.certificate = certificate
        door = ConnectionDoor(limit: limits.connectionsPerAddress ?? HTTPLimits.defaultConnectionsPerAddress)
    }

    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard limits.expectsProxyHeader else {
            return admit(channel, peer: nil, logger).map {
                Value(admission: channel.eventLoop.makeSucceededFuture($0), channel: channel)
            }
        }
        // The header arrives after the connection is accepted. `handle` waits for it.
        let admission = channel.eventLoop.makePromise(of: Admission.self)
        // A connection that was reset before it is served has no address any more. It may have been a proxy's health
        // check, so nothing is logged.
        guard let remoteAddress = channel.remoteAddress else {
            admission.fail(ProxyRefusal.ended)
            return channel.eventLoop.makeSucceededFuture(Value(admission: admission.futureResult, channel: channel))
        }
        let address = remoteAddress.ipAddress ?? ""
        let isProxy = limits.trustedProxies.contains(address)
        // A connection that may not send a header counts from the start, even while it sends nothing.
        guard isProxy || enters(channel, address, logger) else {
            admission.succeed(.turnedAway)
            return channel.eventLoop.makeSucceededFuture(Value(admission: admission.futureResult, channel: channel))
        }
        let handler = ProxyHeaderHandler(
            isRequired: isProxy, timeout: TimeAmount(limits.firstRequestTimeout),
            onSettled: { header in
                let peer: String? =
                    switch header {
                    case .client(let client): client.text
                    case .unknownClient: ""
                    case .proxyItself, nil: nil
                    }
                let admitted = isProxy ? admit(channel, peer: peer, logger) : serve(channel, peer: peer, logger)
                admitted.cascade(to: admission)
                return admitted.map { _ in }
            },
            onRefused: {
                refusals.note($0, from: address, to: logger)
                admission.fail($0)
            })
        return channel.eventLoop.makeCompletedFuture { () throws -> Value in
            do {
                try channel.pipeline.syncOperations.addHandler(handler)
            } catch {
                admission.fail(error)
                throw error
            }
            return Value(admission: admission.futureResult, channel: channel)
        }
    }

    /// Counts a connection, and sets up what serves it. Runs on its event loop.
    private func admit(_ channel: any Channel, peer: String?, _ logger: Logger) -> EventLoopFuture<Admission> {
        guard enters(channel, peer ?? channel.remoteAddress?.ipAddress ?? "", logger) else {
            return channel.eventLoop.makeSucceededFuture(.turnedAway)
        }
        return serve(channel, peer: peer, logger)
    }

    /// Counts a connection for its address until it closes.
    /// - Returns: false if the address has too many.
    private func enters(_ channel: any Channel, _ address: String, _ logger: Logger) -> Bool {
        guard !address.isEmpty, !limits.trustedProxies.contains(address) else { return true }
        let group = AddressGroup(address)
        switch door.enter(group) {
        case .enter:
            channel.closeFuture.whenComplete { [door] _ in door.leave(group) }
            return true
        case .full(let isNew):
            if isNew {
                logger.warning(
                    """
                    Connections from \(group) are turned away: it has \(door.limit). If it is a proxy, name it in \
                    \(ServerConfiguration.proxiesVariable).
                    """)
            }
            return false
        }
    }

    /// Sets up what serves a connection, after the handlers already in its pipeline. Runs on its event loop.
    private func serve(_ channel: any Channel, peer: String?, _ logger: Logger) -> EventLoopFuture<Admission> {
        do {
            if let certificate {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
            }
            try channel.pipeline.syncOperations.addHandler(
                FirstRequestHandler(timeout: TimeAmount(limits.firstRequestTimeout)))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return ConnectionPeer.$address.withValue(peer) { base.setup(channel: channel, logger: logger) }
            .map { Admission.served($0, peer: peer) }
    }

    public func handle(value: Value, logger: Logger) async {
        guard staysOnEventLoop else { return await serve(value, logger) }
        let executor = EventLoopTaskExecutor(value.channel.eventLoop)
        await EventLoopTaskExecutor.$current.withValue(executor) {
            await withTaskExecutorPreference(executor) { await serve(value, logger) }
        }
    }

    private func serve(_ value: Value, _ logger: Logger) async {
        switch try? await value.admission.get() {
        case .served(let served, let peer):
            await ConnectionPeer.$address.withValue(peer) {
                await ConnectionPeer.$isEncrypted.withValue(certificate != nil) {
                    await base.handle(value: served, logger: logger)
                }
            }
        case .turnedAway:
            if certificate == nil { try? await value.channel.writeAndFlush(ByteBuffer(string: Self.refusal)) }
            try? await value.channel.close()
        case nil: try? await value.channel.close()
        }
    }

    private static var refusal: String {
        let body = #"{"code":"too_many_requests","message":"Your address has too many connections to this server."}"#
        return """
            HTTP/1.1 429 Too Many Requests\r
            Content-Type: application/json; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Retry-After: 1\r
            Connection: close\r
            \r
            \(body)
            """
    }
}
