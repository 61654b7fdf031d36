import TomboloAuthentication

/// What a proxy says of a connection by the PROXY protocol: whom it passes on.
enum ProxyHeader: Hashable, Sendable {
    case client(IPAddress)
    /// A client that has no IP address, or none that the proxy knows.
    case unknownClient
    /// Nobody: the proxy itself connects, to look whether the server is well.
    case proxyItself
}

/// Why a header isn't one. The text quotes nothing of what came.
struct ProxyHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
