public import HummingbirdCore
public import Logging
public import NIOCore
import NIOSSL
import TomboloAuthentication

/// A server's connections behind two bounds: each address has only so many at a time, and each has to come to its first
/// request soon, and TLS before it. A connection too many gets the answer 429 and is closed, or is closed at once where the
/// answer would cost a handshake. Connections of trusted proxies are not
/// counted: they carry everybody's requests.
public struct GuardedServerChannel<Base: ServerChildChannel>: ServerChildChannel {
    public struct Value: ServerChildChannelValue {
        /// Nil for a connection that is turned away.
        let base: Base.Value?
        public let channel: any Channel
    }

    private let base: Base
    private let limits: HTTPLimits
    private let certificate: TLSCertificate?
    private let door: ConnectionDoor

    /// - Parameter certificate: for TLS; nil without.
    public init(base: Base, limits: HTTPLimits, certificate: TLSCertificate? = nil) {
        self.base = base
        self.limits = limits
        self.certificate = certificate
        door = ConnectionDoor(limit: limits.connectionsPerAddress ?? HTTPLimits.defaultConnectionsPerAddress)
    }

    public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        if let address = channel.remoteAddress?.ipAddress, !limits.trustedProxies.contains(address) {
            let group = AddressGroup(address)
            switch door.enter(group) {
            case .enter: channel.closeFuture.whenComplete { [door] _ in door.leave(group) }
            case .full(let isNew):
                if isNew {
                    logger.warning(
                        """
                        Connections from \(group) are turned away: it has \(door.limit). If it is a proxy, name it in \
                        \(ServerConfiguration.proxiesVariable).
                        """)
                }
                return channel.eventLoop.makeSucceededFuture(Value(base: nil, channel: channel))
            }
        }
        do {
            if let certificate {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
            }
            try channel.pipeline.syncOperations.addHandler(
                FirstRequestHandler(timeout: TimeAmount(limits.firstRequestTimeout)))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger).map { Value(base: $0, channel: channel) }
    }

    public func handle(value: Value, logger: Logger) async {
        if let value = value.base { return await base.handle(value: value, logger: logger) }
        if certificate == nil { try? await value.channel.writeAndFlush(ByteBuffer(string: Self.refusal)) }
        try? await value.channel.close()
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
