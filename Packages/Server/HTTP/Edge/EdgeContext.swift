public import Hummingbird

/// What belongs to one request. Who is asking is not in it: routes get that from their ``RouteAccess``, so that
/// no handler can forget to ask.
public struct EdgeContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The bounds of the server.
    public var limits = HTTPLimits()
    /// The IP address that the request comes from: the connection's, or what a trusted proxy says; empty if there is none.
    public internal(set) var remoteAddress: String

    public init(source: Source) {
        remoteAddress = source.channel.peerAddress
        coreContext = CoreRequestContextStorage(source: source)
    }

    public var maxUploadSize: Int { limits.bodyBytes }
}
