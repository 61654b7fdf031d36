import TomboloAuthentication

/// What a PROXY header says about a connection: whom the proxy forwards.
enum ProxyHeader: Hashable, Sendable {
    case client(IPAddress)
    /// A client that has no IP address, or whose address the proxy doesn't know.
    case unknownClient
    /// No client: the proxy itself connects, for a health check.
    case proxyItself
}

/// Why a header is invalid. The text quotes nothing of what was received.
struct ProxyHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
