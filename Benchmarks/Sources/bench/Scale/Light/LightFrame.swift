import NIOCore

/// Frames of RFC 6455, section 5.2, with as little work as possible. It expects a server's frames to be unfragmented
/// and unmasked.
struct LightFrame {
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10

    let opcode: UInt8
    let headerByteCount: Int
    let payloadByteCount: Int

    /// The frame at the beginning of the buffer; nil if it's incomplete.
    init?(_ buffer: ByteBuffer) throws {
        guard let start = buffer.getInteger(at: buffer.readerIndex, as: UInt16.self) else { return nil }
        opcode = UInt8(start >> 8) & 0x0F
        guard start & 0x8000 != 0 else { throw BenchError("A message came in fragments.") }
        switch start & 0x7F {
        case 126:
            guard let length = buffer.getInteger(at: buffer.readerIndex + 2, as: UInt16.self) else { return nil }
            (headerByteCount, payloadByteCount) = (4, Int(length))
        case 127:
            guard let length = buffer.getInteger(at: buffer.readerIndex + 2, as: UInt64.self) else { return nil }
            (headerByteCount, payloadByteCount) = (10, Int(length))
        case let length: (headerByteCount, payloadByteCount) = (2, Int(length))
        }
        guard payloadByteCount <= RawWebSocket.maximumFrameByteCount else {
            throw BenchError("A frame of \(payloadByteCount) bytes arrived.")
        }
        guard buffer.readableBytes >= headerByteCount + payloadByteCount else { return nil }
    }

    /// A client's frame. All use the same mask, so that devices can share what they send.
    static func masked(_ opcode: UInt8, _ payload: [UInt8]) -> ByteBuffer {
        let mask: [UInt8] = [0x5A, 0x17, 0xC3, 0x88]
        var frame = ByteBuffer()
        frame.writeInteger(0x80 | opcode)
        switch payload.count {
        case ..<126: frame.writeInteger(0x80 | UInt8(payload.count))
        case ..<65_536:
            frame.writeInteger(UInt8(0x80 | 126))
            frame.writeInteger(UInt16(payload.count))
        default:
            frame.writeInteger(UInt8(0x80 | 127))
            frame.writeInteger(UInt64(payload.count))
        }
        frame.writeBytes(mask)
        frame.writeBytes(payload.indices.map { payload[$0] ^ mask[$0 & 3] })
        return frame
    }
}
