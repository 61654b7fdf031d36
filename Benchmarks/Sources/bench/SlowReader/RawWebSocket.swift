import Foundation

/// A WebSocket client on a plain blocking socket (RFC 6455), which reads from the network only on request. Not
/// thread-safe.
final class RawWebSocket {
    /// The largest frame that is accepted, in bytes.
    static let maximumFrameByteCount = 64 << 20
    /// The longest allowed response to the upgrade, in bytes.
    static let maximumHeadByteCount = 8 << 10
    /// The size of the kernel's receive buffer, in bytes. It's small, so that the other side notices when nobody
    /// reads.
    static let receiveBufferByteCount: Int32 = 64 << 10

    private let socket: RawSocket

    /// Connects to 127.0.0.1 and upgrades.
    init(port: Int, path: String, receiveBufferByteCount: Int32 = RawWebSocket.receiveBufferByteCount) throws {
        socket = try RawSocket(port: port, receiveBufferByteCount: receiveBufferByteCount)
        let key = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        try socket.write(
            Array(
                ("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\r\n").utf8))
        let head = try socket.head(maximumByteCount: Self.maximumHeadByteCount)
        guard head.contains(" 101 ") else {
            throw BenchError("The gateway didn't upgrade: \(head.prefix(80))")
        }
    }

    /// Sends a binary message.
    func send(_ message: [UInt8]) throws { try send(opcode: 2, message) }

    /// Sends an unsolicited pong as a heartbeat (RFC 6455 §5.5.3).
    func sendPong() throws { try send(opcode: 10, []) }

    /// Sends the first half of a binary message, so that the other side waits for the rest.
    func sendHalf(_ message: [UInt8]) throws {
        let frame = Self.frame(opcode: 2, message)
        try socket.write(Array(frame.prefix(frame.count / 2)))
    }

    /// Reads one byte from the network, whatever message it belongs to.
    func readByte() throws { try socket.receiveByte() }

    /// Discards what has arrived.
    func discardReceived() { socket.discardReceived() }

    /// The next binary message.
    func receive() throws -> [UInt8] {
        var message: [UInt8] = []
        while true {
            let first = try socket.bytes(1)[0]
            var length = Int(try socket.bytes(1)[0] & 0x7F)
            if length == 126 {
                length = try integer(byteCount: 2)
            } else if length == 127 {
                length = try integer(byteCount: 8)
            }
            guard length <= Self.maximumFrameByteCount else { throw BenchError("A frame of \(length) bytes arrived.") }
            let payload = try socket.bytes(length)
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
        try socket.write(Self.frame(opcode: opcode, payload))
    }

    private static func frame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
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
        return frame
    }

    private func integer(byteCount: Int) throws -> Int {
        try socket.bytes(byteCount).reduce(0) { $0 << 8 | Int($1) }
    }
}
