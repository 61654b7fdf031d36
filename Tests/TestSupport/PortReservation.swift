#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A port of 127.0.0.1 that belongs to one server of a test, even while the server isn't running: devices know the port, and
/// another program could take it meanwhile.
///
/// A socket that is bound but doesn't listen reserves it. The server can bind the same port because both sockets reuse addresses.
public final class PortReservation: Sendable {
    public let port: Int
    private let descriptor: Int32

    /// - Returns: nil if the system gives none; a server that is started only once can use any port.
    public init?() {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return nil }
            var isReused: Int32 = 1
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
                        == 0
                        && bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
                }
            }
            guard isBound else {
                close(descriptor)
                return nil
            }
            self.descriptor = descriptor
            port = Int(UInt16(bigEndian: address.sin_port))
        #else
            // On other systems, SO_REUSEADDR isn't enough for a second socket.
            return nil
        #endif
    }

    deinit { close(descriptor) }
}
