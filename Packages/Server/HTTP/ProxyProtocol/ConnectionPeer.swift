package import NIOCore

/// A connection's origin according to its PROXY header. It is set while the code that serves the connection is set up
/// and runs, since a socket's own address can't be changed.
enum ConnectionPeer {
    /// Nil to use the socket's address; empty if the address is unknown.
    @TaskLocal static var address: String?
    /// Whether this server speaks TLS on the connection.
    @TaskLocal static var isEncrypted = false
}

extension Channel {
    /// The client's IP address: the socket's, or the one in a trusted proxy's PROXY header. Empty if there is none. For
    /// a server's own code, while it sets up a connection and in the task that serves it.
    package var peerAddress: String { ConnectionPeer.address ?? remoteAddress?.ipAddress ?? "" }
}
