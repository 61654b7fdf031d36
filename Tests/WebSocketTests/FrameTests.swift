import NIOCore
import Testing
import TomboloWebSocket

/// The same frames sent to a real server and to a real client, over sockets.
@Suite(.timeLimit(.minutes(15)))
struct FrameTests {
    private static func isSame(_ found: [FrameCase.Answer], _ expected: [FrameCase.Answer]) -> Bool {
        func counted(_ answers: [FrameCase.Answer]) -> [FrameCase.Answer: Int] {
            Dictionary(answers.map { ($0, 1) }, uniquingKeysWith: +)
        }
        func messages(_ answers: [FrameCase.Answer]) -> [FrameCase.Answer] {
            answers.filter { if case .message = $0 { true } else { false } }
        }
        // Pongs and messages come from two tasks, in either order.
        return counted(found) == counted(expected) && messages(found) == messages(expected)
            && found.last == expected.last
    }

    private static func check(_ found: [FrameCase.Answer], _ frameCase: FrameCase) {
        #expect(
            isSame(found, frameCase.expected),
            "\(frameCase.name): found \(String(describing: found).prefix(400)), expected \(String(describing: frameCase.expected).prefix(400))"
        )
    }

    @Test("A server answers a client's frames as RFC 6455 requires", arguments: RawPeer.Delivery.allCases)
    func server(_ delivery: RawPeer.Delivery) async throws {
        try await EchoServer.with { port in
            for frameCase in FrameCase.all {
                let size = frameCase.bytes(fromClient: true).count
                guard delivery == .whole || size <= FrameCase.maximumDripByteCount else { continue }
                let found = try await EchoServer.connect(port) { peer in
                    try await frameCase.answers(of: peer, fromClient: true, delivery)
                }
                Self.check(found, frameCase)
            }
        }
    }

    @Test("A client answers a server's frames as RFC 6455 requires", arguments: RawPeer.Delivery.allCases)
    func client(_ delivery: RawPeer.Delivery) async throws {
        for frameCase in FrameCase.all {
            let size = frameCase.bytes(fromClient: false).count
            guard delivery == .whole || size <= FrameCase.maximumDripByteCount else { continue }
            let (found, end) = try await RawServer.with { peer in
                try await frameCase.answers(of: peer, fromClient: false, delivery)
            }
            Self.check(found, frameCase)
            let refusals: Set<UInt16> = [1002, 1003, 1007, 1008, 1009]
            let isAnswer = frameCase.frames.contains { frame in
                if case .close(let code?) = frameCase.expected.last { frame == .close(code) } else { false }
            }
            if case .close(let code?) = frameCase.expected.last, refusals.contains(code), !isAnswer {
                guard case MessageSocketError.violation(Int(code), _)? = end else {
                    Issue.record("\(frameCase.name): the client ended with \(String(describing: end))")
                    continue
                }
            } else {
                #expect(end == nil, "\(frameCase.name)")
            }
        }
    }

    @Test("The last of many pings is answered, and messages still arrive")
    func burst() async throws {
        try await EchoServer.with { port in
            try await EchoServer.connect(port) { peer in
                let pings = (UInt8(0)..<100).map { RawFrame(opcode: RawFrame.ping, payload: [$0]) }
                let frames = pings + [RawFrame(opcode: RawFrame.binary, payload: [1])]
                await peer.send(frames.flatMap { $0.bytes(fromClient: true) })
                var hasMessage = false
                var hasLastPong = false
                while !hasMessage || !hasLastPong, let frame = try await peer.next(isMasked: false) {
                    if frame == frames[100] { hasMessage = true }
                    if frame == RawFrame(opcode: RawFrame.pong, payload: [99]) { hasLastPong = true }
                }
                #expect(hasMessage && hasLastPong)
            }
        }
    }

    @Test("A message in the same packet as the opening arrives")
    func early() async throws {
        let message = RawFrame(opcode: RawFrame.binary, payload: [1, 2])
        let answer = try await EchoServer.with { port in
            try await EchoServer.connect(port, early: message.bytes(fromClient: true)) { peer in
                try await peer.next(isMasked: false)
            }
        }
        #expect(answer == message)
        let (echo, _) = try await RawServer.with(
            answer: { RawServer.accepting($0) + message.bytes(fromClient: false) }
        ) { peer in try await peer.next(isMasked: true) }
        #expect(echo == message)
    }

    @Test("Before the session is open, too much data is refused with code 1009, however it's framed")
    func opening() async throws {
        try await EchoServer.with(openingByteCount: 1_000) { port in
            for count in [900, 1_001] {
                let code = try await EchoServer.connect(port) { peer -> UInt16? in
                    let frame = RawFrame(opcode: RawFrame.binary, payload: Array(repeating: 0, count: count))
                    let frameCase = FrameCase(name: "", frames: [frame], answers: [.message(frame.payload)])
                    guard case .close(let code)? = try await frameCase.answers(of: peer, fromClient: true, .whole).last
                    else { return nil }
                    return code
                }
                #expect(code == (count == 900 ? 1_000 : 1_009))
            }
        }
    }
}
