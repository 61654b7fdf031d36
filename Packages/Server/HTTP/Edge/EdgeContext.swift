public import Hummingbird
import NIOCore
import TomboloAuthentication

/// The context of one request. It doesn't say what the caller may do: routes get that from their ``RouteAccess``, so
/// that no handler can forget to ask.
public struct EdgeContext: RequestContext {
    /// The key of the request's id in log lines.
    static let requestIDKey = "hb.request.id"

    public var coreContext: CoreRequestContextStorage
    /// The server's limits.
    public var limits = HTTPLimits()
    /// The client's IP address: the connection's, or the one that a trusted proxy names; empty if there is none.
    public internal(set) var remoteAddress: String
    /// What counts as one address in limits: ``remoteAddress``, or its IPv6 network; empty if there is none.
    public var addressGroup: String { remoteAddress.isEmpty ? "" : AddressGroup(remoteAddress).text }

    /// Whether the request came by HTTPS, to this server or to a trusted proxy that says so.
    public internal(set) var isSecure: Bool
    /// What the route's ``RouteIdentity`` knows about the caller in addition to the subject; nil for access tokens.
    public internal(set) var session: (any Sendable)?

    /// Where the route notes the caller; nil if nothing reads it.
    var callerNote: CallerNote?

    /// The executor that answers the request; nil for Swift's pool.
    let executor: EventLoopTaskExecutor?

    /// The request's connection.
    let channel: any Channel

    public init(source: Source) {
        executor = .current
        channel = source.channel
        remoteAddress = source.channel.peerAddress
        isSecure = ConnectionPeer.isEncrypted
        coreContext = CoreRequestContextStorage(source: source)
    }

    public var maxUploadSize: Int { limits.bodyBytes }
}
