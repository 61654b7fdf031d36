public import Hummingbird
import NIOCore
import TomboloAuthentication

/// What belongs to one request. What a caller may do is not in it: routes get that from their ``RouteAccess``, so that
/// no handler can forget to ask.
public struct EdgeContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The bounds of the server.
    public var limits = HTTPLimits()
    /// The IP address that the request comes from: the connection's, or what a trusted proxy says; empty if there is none.
    public internal(set) var remoteAddress: String
    /// What counts as one address in limits: ``remoteAddress``, or its network of IPv6; empty if there is none.
    public var addressGroup: String { remoteAddress.isEmpty ? "" : AddressGroup(remoteAddress).text }

    /// Whether the request came by HTTPS, to this server or to a trusted proxy that says so.
    public internal(set) var isSecure: Bool
    /// What the route's ``RouteIdentity`` knows of the caller besides the subject; nil for access tokens.
    public internal(set) var session: (any Sendable)?

    /// Where the route leaves who is asking; nil where nobody looks.
    var callerNote: CallerNote?

    /// Where the request is answered; nil for Swift's pool.
    let executor: EventLoopTaskExecutor?

    /// The connection that the request came by.
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
