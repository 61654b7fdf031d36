import NIOCore
import NIOWebSocket
import RandomValues
import Testing

@testable import TomboloWebSocket

@Suite struct FrameReaderTests {
    private static func frame(_ opcode: WebSocketOpcode, _ bytes: [UInt8] = [], isLast: Bool = true) -> WebSocketFrame {
        WebSocketFrame(fin: isLast, opcode: opcode, maskKey: [1, 2, 3, 4], data: masked(bytes))
    }

    private static func masked(_ bytes: [UInt8]) -> ByteBuffer {
        var data = ByteBuffer(bytes: bytes)
        data.webSocketMask([1, 2, 3, 4])
        return data
    }

    private static func reader() -> FrameReader {
        FrameReader(isClient: false, maximumMessageByteCount: 10, maximumFragmentCount: 4)
    }

    @Test("A message may have up to the allowed number of bytes, in one frame or in fragments")
    func size() throws {
        var reader = Self.reader()
        let allowed = Array(repeating: UInt8(7), count: 10)
        #expect(try reader.receive(Self.frame(.binary, allowed))?.data == ByteBuffer(bytes: allowed))
        #expect(throws: FrameViolation(.messageTooLarge, "a message of more than 10 bytes")) {
            var reader = Self.reader()
            _ = try reader.receive(Self.frame(.binary, allowed + [7]))
        }
        #expect(try reader.receive(Self.frame(.binary, Array(allowed.prefix(9)), isLast: false)) == nil)
        #expect(try reader.receive(Self.frame(.continuation, [7]))?.data == ByteBuffer(bytes: allowed))
        #expect(throws: FrameViolation(.messageTooLarge, "a message of more than 10 bytes")) {
            var reader = Self.reader()
            _ = try reader.receive(Self.frame(.binary, Array(allowed.prefix(9)), isLast: false))
            _ = try reader.receive(Self.frame(.continuation, [7, 7], isLast: false))
        }
    }

    @Test("A message may have up to the allowed number of fragments, counted separately for each message")
    func fragmentCount() throws {
        var reader = Self.reader()
        for _ in 0..<3 {
            #expect(try reader.receive(Self.frame(.binary, isLast: false)) == nil)
            #expect(try reader.receive(Self.frame(.continuation, isLast: false)) == nil)
            #expect(try reader.receive(Self.frame(.continuation, [1], isLast: false)) == nil)
            #expect(try reader.receive(Self.frame(.continuation, [2]))?.data == ByteBuffer(bytes: [1, 2]))
        }
        #expect(throws: FrameViolation(.messageTooLarge, "a message in more than 4 fragments")) {
            var reader = Self.reader()
            _ = try reader.receive(Self.frame(.binary, isLast: false))
            // The fourth says that a fifth follows.
            for _ in 0..<3 { _ = try reader.receive(Self.frame(.continuation, isLast: false)) }
        }
    }

    @Test("Pings and pongs are counted until we send a ping")
    func controlFrames() throws {
        var reader = Self.reader()
        for _ in 0..<3 {
            for count in 0..<FrameReader.maximumControlFrameCount {
                _ = try reader.receive(Self.frame(count.isMultiple(of: 2) ? .ping : .pong))
            }
            reader.didPing()
        }
        #expect(throws: FrameViolation.self) {
            var reader = Self.reader()
            for _ in 0...FrameReader.maximumControlFrameCount { _ = try reader.receive(Self.frame(.ping)) }
        }
    }

    @Test("A message arrives the same however it's split and whatever pings come in between")
    func cuts() throws {
        var generator = SeededGenerator.printed(for: "cut messages")
        for _ in 0..<500 {
            var reader = FrameReader(isClient: false)
            let message = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let cuts = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                Int.random(in: 0...message.count, using: &generator)
            }.sorted()
            let bounds = [0] + cuts + [message.count]
            var result: [UInt8]?
            for (position, (from, to)) in zip(bounds, bounds.dropFirst()).enumerated() {
                if Bool.random(using: &generator) {
                    let ping = try reader.receive(Self.frame(.ping, [UInt8(position)]))
                    #expect(ping?.opcode == .ping && ping?.data == ByteBuffer(bytes: [UInt8(position)]))
                }
                let frame = Self.frame(
                    position == 0 ? .binary : .continuation, Array(message[from..<to]),
                    isLast: to == message.count
                        && position == cuts.count)
                if let found = try reader.receive(frame) { result = Array(found.data.readableBytesView) }
            }
            #expect(result == message)
        }
    }
}
