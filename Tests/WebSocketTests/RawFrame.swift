/// A frame as bytes, valid or not (RFC 6455 §5.2).
struct RawFrame: Sendable, Equatable {
    static let continuation: UInt8 = 0x0
    static let text: UInt8 = 0x1
    static let binary: UInt8 = 0x2
    static let closing: UInt8 = 0x8
    static let ping: UInt8 = 0x9
    static let pong: UInt8 = 0xA

    var opcode: UInt8
    var payload: [UInt8] = []
    var isLast = true
    /// The three reserved bits, 0 to 7.
    var reserved: UInt8 = 0
    /// The length in the header, or nil for the payload's actual length.
    var claimedLength: UInt64?
    /// Whether the frame is masked although it comes from a server, or unmasked although it comes from a client.
    var hasWrongMask = false

    static func close(_ code: UInt16, _ reason: [UInt8] = []) -> RawFrame {
        RawFrame(opcode: closing, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    func bytes(fromClient isFromClient: Bool) -> [UInt8] {
        let isMasked = isFromClient != hasWrongMask
        var bytes = [(isLast ? 0x80 : 0) | reserved << 4 | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        let length = claimedLength ?? UInt64(payload.count)
        func append(_ byteCount: Int) {
            for shift in (0..<byteCount).reversed() { bytes.append(UInt8(truncatingIfNeeded: length >> (shift * 8))) }
        }
        switch length {
        case ..<126: bytes.append(mask | UInt8(length))
        case ..<65_536:
            bytes.append(mask | 126)
            append(2)
        default:
            bytes.append(mask | 127)
            append(8)
        }
        guard isMasked else { return bytes + payload }
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }
}
