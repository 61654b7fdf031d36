import Foundation

/// A WebSocket client on a plain blocking socket (RFC 6455): nothing is read from the network but when asked for.
/// Confined to its user.
final class RawWebSocket {
    /// The largest frame that is accepted, in bytes.
    static let maximumFrameByteCount = 64 << 20
    /// What the kernel may hold for this side, in bytes; little, so that the other side notices when nobody reads.
    static let receiveBufferByteCount: Int32 = 64 << 10

    private let socket: Int32
    private var buffer: [UInt8] = []
    private var offset = 0

    /// Connects to 127.0.0.1 and upgrades.
    init(port: Int, path: String) throws {
        #if canImport(Glibc)
            socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket = Foundation.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var size = Self.receiveBufferByteCount
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
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
            throw BenchError("Cannot connect to port \(port): \(String(cString: strerror(errno)))")
        }
        let key = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        try write(
            Array(
                ("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8))
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head.append(try byte()) }
        guard String(decoding: head, as: UTF8.self).contains(" 101 ") else {
            throw BenchError("The gateway did not upgrade: \(String(decoding: head.prefix(80), as: UTF8.self))")
        }
    }

    deinit { close(socket) }

    /// Sends a binary message.
    func send(_ message: [UInt8]) throws { try send(opcode: 2, message) }

    /// Says that this side lives, without being asked (RFC 6455 §5.5.3).
    func sendPong() throws { try send(opcode: 10, []) }

    /// The next binary message.
    func receive() throws -> [UInt8] {
        var message: [UInt8] = []
        while true {
            let first = try byte()
            var length = Int(try byte() & 0x7F)
            if length == 126 {
                length = try integer(byteCount: 2)
            } else if length == 127 {
                length = try integer(byteCount: 8)
            }
            guard length <= Self.maximumFrameByteCount else { throw BenchError("A frame of \(length) bytes came.") }
            let payload = try bytes(length)
            switch first & 0x0F {
            case 0, 2:
                message += payload
                if first & 0x80 != 0 { return message }
            case 8: throw BenchError("The gateway closed the connection.")
            case 9: try send(opcode: 10, payload)
            default: continue
            }
        }
    }

    private func send(opcode: UInt8, _ payload: [UInt8]) throws {
        var frame: [UInt8] = [0x80 | opcode]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ..<65_536:
            frame.append(0x80 | 126)
            withUnsafeBytes(of: UInt16(payload.count).bigEndian) { frame.append(contentsOf: $0) }
        default:
            frame.append(0x80 | 127)
            withUnsafeBytes(of: UInt64(payload.count).bigEndian) { frame.append(contentsOf: $0) }
        }
        let mask = (0..<4).map { _ in UInt8.random(in: 0...255) }
        frame += mask
        for (index, value) in payload.enumerated() { frame.append(value ^ mask[index % 4]) }
        try write(frame)
    }

    private func integer(byteCount: Int) throws -> Int {
        try bytes(byteCount).reduce(0) { $0 << 8 | Int($1) }
    }

    private func byte() throws -> UInt8 { try bytes(1)[0] }

    private func bytes(_ count: Int) throws -> [UInt8] {
        while buffer.count - offset < count {
            if offset > 0 {
                buffer.removeFirst(offset)
                offset = 0
            }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let received = recv(socket, &chunk, chunk.count, 0)
            guard received > 0 else { throw BenchError("The gateway ended the connection.") }
            buffer += chunk.prefix(received)
        }
        defer { offset += count }
        return Array(buffer[offset..<offset + count])
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, 0) }
            guard sent > 0 else { throw BenchError("The gateway takes no more: \(String(cString: strerror(errno)))") }
            rest = rest.dropFirst(sent)
        }
    }
}
