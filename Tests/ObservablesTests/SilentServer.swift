import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A local port that accepts connections and never answers.
final class SilentServer: Sendable {
    struct Failure: Error {}

    let port: UInt16
    private let socketNumber: Int32

    init() throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        socketNumber = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = socketNumber
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(number, address, length) | listen(number, 16) | getsockname(number, address, &length)
            }
        }
        guard result == 0 else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(socketNumber) }
}
