package import NIOCore

/// Where a connection comes from, if a header of the PROXY protocol says so. It is set while whatever serves the connection
/// is set up and runs, for a socket's own address can't be changed.
enum ConnectionPeer {
    /// Nil for the address that the socket has; empty if nobody knows.
    @TaskLocal static var address: String?
    /// Whether this server speaks TLS on the connection.
    @TaskLocal static var isEncrypted = false
}

extension Channel {
    /// The client's IP address: the socket's, or the one in a trusted proxy's PROXY header. Empty if there is none.
    /// For a server's own code, while it sets a connection up and in the task that serves it.
    package var peerAddress: String { ConnectionPeer.address ?? remoteAddress?.ipAddress ?? "" }
}
