import NIOCore

/// One end of a network connection that sends raw bytes and parses frames. Used by one task.
final class RawPeer {
    enum Delivery: CaseIterable, Sendable {
        case whole
        case byteByByte
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()

    init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    /// Bytes that the other side no longer accepts, because it has closed, are dropped.
    func send(_ bytes: [UInt8], _ delivery: Delivery = .whole) async {
        switch delivery {
        case .whole: try? await outbound.write(ByteBuffer(bytes: bytes))
        case .byteByByte:
            for byte in bytes {
                guard (try? await outbound.write(ByteBuffer(bytes: [byte]))) != nil else { return }
            }
        }
    }

    /// Reads an HTTP head, with its empty line.
    func head() async throws -> String {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard try await fill(to: 1), let byte = buffer.readInteger(as: UInt8.self) else {
                throw Failure(
                    description: "The connection ended within a head: \(String(decoding: head, as: UTF8.self))")
            }
            head.append(byte)
        }
        return String(decoding: head, as: UTF8.self)
    }

    /// The next frame, or nil at the end of the connection.
    /// - Parameter isMasked: whether the other side must mask; anything else throws a failure.
    func next(isMasked: Bool) async throws -> RawFrame? {
        guard try await fill(to: 2), let first = buffer.readInteger(as: UInt8.self),
            let second = buffer.readInteger(as: UInt8.self)
        else { return nil }
        guard (second & 0x80 != 0) == isMasked else {
            throw Failure(description: "A frame is \(isMasked ? "not " : "")masked.")
        }
        var length = Int(second & 0x7F)
        if length == 126 {
            guard try await fill(to: 2) else { return nil }
            length = Int(buffer.readInteger(as: UInt16.self) ?? 0)
        } else if length == 127 {
            guard try await fill(to: 8) else { return nil }
            length = Int(buffer.readInteger(as: UInt64.self) ?? 0)
        }
        guard try await fill(to: isMasked ? 4 : 0), let key = buffer.readBytes(length: isMasked ? 4 : 0),
            try await fill(to: length), let payload = buffer.readBytes(length: length)
        else { return nil }
        return RawFrame(
            opcode: first & 0x0F,
            payload: isMasked ? payload.enumerated().map { $1 ^ key[$0 % 4] } : payload,
            isLast: first & 0x80 != 0, reserved: first >> 4 & 0x7)
    }

    /// - Returns: false at the end of the connection.
    private func fill(to count: Int) async throws -> Bool {
        while buffer.readableBytes < count {
            guard var more = try await inbound.next() else { return false }
            buffer.writeBuffer(&more)
        }
        return true
    }
}
