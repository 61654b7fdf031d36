import Foundation

/// A blocking connection to 127.0.0.1, which reads from the network only on request. Not thread-safe.
final class RawSocket {
    private static let chunkByteCount = 64 << 10
    private static let headEnd = Array("\r\n\r\n".utf8)

    private let socket: Int32
    private var buffer: [UInt8] = []
    private var offset = 0

    /// - Parameter receiveBufferByteCount: the size of the kernel's receive buffer; nil for the system's default.
    init(port: Int, receiveBufferByteCount: Int32? = nil) throws {
        socket = try Self.connected(port: port, receiveBufferByteCount: receiveBufferByteCount)
    }

    /// A socket connected to 127.0.0.1. The caller must close it.
    static func connected(port: Int, receiveBufferByteCount: Int32? = nil) throws -> Int32 {
        #if canImport(Glibc)
            let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if var size = receiveBufferByteCount {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            let problem = String(cString: strerror(errno))
            close(socket)
            throw BenchError("Cannot connect to port \(port): \(problem)")
        }
        return socket
    }

    deinit { close(socket) }

    /// The next bytes. Blocks until all of them have arrived.
    func bytes(_ count: Int) throws -> [UInt8] {
        while buffer.count - offset < count {
            if offset > 0 {
                buffer.removeFirst(offset)
                offset = 0
            }
            var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
            let received = recv(socket, &chunk, chunk.count, 0)
            guard received > 0 else { throw BenchError("The gateway closed the connection.") }
            buffer += chunk.prefix(received)
        }
        defer { offset += count }
        return Array(buffer[offset..<offset + count])
    }

    /// The head of an HTTP response, including the empty line that ends it.
    func head(maximumByteCount: Int) throws -> String {
        var head: [UInt8] = []
        while !head.suffix(Self.headEnd.count).elementsEqual(Self.headEnd) {
            guard head.count < maximumByteCount else {
                throw BenchError("An answer's head has more than \(maximumByteCount) bytes.")
            }
            head.append(try bytes(1)[0])
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// Receives and discards a single byte from the network; ``bytes(_:)`` receives all that has arrived.
    func receiveByte() throws {
        var byte: UInt8 = 0
        guard recv(socket, &byte, 1, 0) == 1 else { throw BenchError("The gateway closed the connection.") }
    }

    /// Discards what has arrived, without waiting.
    func discardReceived() {
        buffer = []
        offset = 0
        var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)
        while recv(socket, &chunk, chunk.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, 0) }
            guard sent > 0 else { throw BenchError("Can't send to the gateway: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(sent)
        }
    }
}
