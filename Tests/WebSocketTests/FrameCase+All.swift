import TomboloWebSocket

/// The cases are in the order of the Autobahn test suite's sections.
extension FrameCase {
    static let all = framing + pings + reservedBits + opcodes + fragments + texts + closing + limits

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

    private static func refused(_ name: String, _ code: UInt16, _ frames: RawFrame...) -> FrameCase {
        FrameCase(name: name, frames: frames, answers: [.close(code)])
    }

    // MARK: Framing

    /// Sizes just below and above those at which the length takes more bytes.
    private static let framing =
        [0, 1, 125, 126, 127, 128, 65_535, 65_536, 200_000].map { count in
            FrameCase(
                name: "a message of \(count) bytes arrives",
                frames: [RawFrame(opcode: RawFrame.binary, payload: bytes(count))],
                answers: [.message(bytes(count))])
        } + [
            FrameCase(
                name: "messages arrive in order",
                frames: [[1], [], [2, 3]].map { RawFrame(opcode: RawFrame.binary, payload: $0) },
                answers: [.message([1]), .message([]), .message([2, 3])]),
            refused(
                "a frame with the wrong mask bit is refused", 1002,
                RawFrame(opcode: RawFrame.binary, payload: [1, 2], hasWrongMask: true)),
            refused(
                "an empty frame with the wrong mask bit is refused", 1002,
                RawFrame(opcode: RawFrame.binary, hasWrongMask: true)),
            refused(
                "a ping with the wrong mask bit is refused", 1002, RawFrame(opcode: RawFrame.ping, hasWrongMask: true)),
            refused(
                "a close frame with the wrong mask bit is refused", 1002,
                RawFrame(opcode: RawFrame.closing, payload: [3, 232], hasWrongMask: true)),
            refused(
                "a continuation with the wrong mask bit is refused", 1002,
                RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [2], hasWrongMask: true)),
        ]

    // MARK: Pings

    private static let pings =
        [[], Array("ping".utf8), [0, 255, 254, 0], bytes(125)].map { payload in
            FrameCase(
                name: "a ping with \(payload.count) bytes is answered with the same bytes",
                frames: [RawFrame(opcode: RawFrame.ping, payload: payload)], answers: [.pong(payload)])
        } + [
            FrameCase(
                name: "an unsolicited pong is ignored",
                frames: [
                    RawFrame(opcode: RawFrame.pong, payload: [1]), RawFrame(opcode: RawFrame.binary, payload: [2]),
                ],
                answers: [.message([2])]),
            FrameCase(
                name: "a ping between two messages is answered",
                frames: [
                    RawFrame(opcode: RawFrame.binary, payload: [1]), RawFrame(opcode: RawFrame.ping, payload: [9]),
                    RawFrame(opcode: RawFrame.binary, payload: [2]),
                ], answers: [.message([1]), .pong([9]), .message([2])]),
            refused(
                "a ping with 126 bytes is refused", 1002, RawFrame(opcode: RawFrame.ping, payload: bytes(126))),
            refused(
                "a pong with 126 bytes is refused", 1002, RawFrame(opcode: RawFrame.pong, payload: bytes(126))),
        ]

    // MARK: Reserved bits and opcodes

    private static let reservedBits = (UInt8(1)...7).flatMap { bits in
        [RawFrame.binary, RawFrame.text, RawFrame.ping, RawFrame.pong, RawFrame.closing].map { opcode in
            refused(
                "reserved bits \(bits) on opcode \(opcode) are refused", 1002,
                RawFrame(opcode: opcode, payload: [3, 232], reserved: bits))
        } + [
            refused(
                "reserved bits \(bits) on a continuation are refused", 1002,
                RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [2], reserved: bits))
        ]
    }

    private static let opcodes = (Array(3...7) + Array(0xB...0xF)).flatMap { (opcode: UInt8) in
        [[], [1, 2, 3]].map { payload in
            refused(
                "opcode \(opcode) with \(payload.count) bytes is refused", 1002,
                RawFrame(opcode: opcode, payload: payload))
        }
    }

    // MARK: Fragments

    private static let fragments = [
        FrameCase(
            name: "a message in three fragments arrives whole",
            frames: [
                RawFrame(opcode: RawFrame.binary, payload: [1, 2], isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [3], isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [4, 5]),
            ], answers: [.message([1, 2, 3, 4, 5])]),
        FrameCase(
            name: "empty fragments make an empty message",
            frames: [
                RawFrame(opcode: RawFrame.binary, isLast: false),
                RawFrame(opcode: RawFrame.continuation, isLast: false),
                RawFrame(opcode: RawFrame.continuation),
            ], answers: [.message([])]),
        FrameCase(
            name: "empty fragments around full ones change nothing",
            frames: [
                RawFrame(opcode: RawFrame.binary, isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [7], isLast: false),
                RawFrame(opcode: RawFrame.continuation),
            ], answers: [.message([7])]),
        FrameCase(
            name: "a ping between fragments is answered, and the message arrives",
            frames: [
                RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
                RawFrame(opcode: RawFrame.ping, payload: [9]),
                RawFrame(opcode: RawFrame.continuation, payload: [2]),
            ], answers: [.pong([9]), .message([1, 2])]),
        FrameCase(
            name: "a close frame between fragments ends the connection",
            frames: [RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false), .close(1000)],
            answers: [.close(1000)]),
        FrameCase(
            name: "a message after a fragmented one arrives",
            frames: [
                RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
                RawFrame(opcode: RawFrame.continuation, payload: [2]), RawFrame(opcode: RawFrame.binary, payload: [3]),
            ], answers: [.message([1, 2]), .message([3])]),
        refused(
            "a ping in two fragments is refused", 1002, RawFrame(opcode: RawFrame.ping, payload: [1], isLast: false),
            RawFrame(opcode: RawFrame.continuation, payload: [2])),
        refused(
            "a pong in two fragments is refused", 1002, RawFrame(opcode: RawFrame.pong, payload: [1], isLast: false),
            RawFrame(opcode: RawFrame.continuation, payload: [2])),
        refused(
            "a close frame in two fragments is refused", 1002,
            RawFrame(opcode: RawFrame.closing, payload: [3], isLast: false),
            RawFrame(opcode: RawFrame.continuation, payload: [232])),
        refused(
            "a lone continuation is refused", 1002, RawFrame(opcode: RawFrame.continuation, payload: [1])),
        refused(
            "a continuation as the first fragment is refused", 1002,
            RawFrame(opcode: RawFrame.continuation, payload: [1], isLast: false)),
        refused(
            "a whole message within a fragmented one is refused", 1002,
            RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
            RawFrame(opcode: RawFrame.binary, payload: [2])),
        refused(
            "a second first fragment is refused", 1002, RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
            RawFrame(opcode: RawFrame.binary, payload: [2], isLast: false)),
        refused(
            "a text within a fragmented message is refused", 1002,
            RawFrame(opcode: RawFrame.binary, payload: [1], isLast: false),
            RawFrame(opcode: RawFrame.text, payload: [65])),
    ]

    // MARK: Text

    private static let texts = [
        refused("a text is refused", 1003, RawFrame(opcode: RawFrame.text, payload: Array("Grüße".utf8))),
        refused("an empty text is refused", 1003, RawFrame(opcode: RawFrame.text)),
        refused(
            "a text that is not UTF-8 is refused as a text", 1003,
            RawFrame(opcode: RawFrame.text, payload: [0xC3, 0x28, 0xFF])),
        refused(
            "a fragmented text is refused at its first fragment", 1003,
            RawFrame(opcode: RawFrame.text, payload: [65], isLast: false)),
    ]

    // MARK: Closing

    private static let invalidReasons: [[UInt8]] = [
        [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], Array("caf".utf8) + [0xC3],
    ]

    private static let closing =
        [
            FrameCase(
                name: "a close frame without a code is answered with one without a code",
                frames: [RawFrame(opcode: RawFrame.closing)], answers: [.close(nil)]),
            FrameCase(
                name: "a reason of 123 bytes is accepted", frames: [.close(1000, Array(repeating: 65, count: 123))],
                answers: [.close(1000)]),
            FrameCase(
                name: "a reason may have any characters", frames: [.close(1001, Array("Zeit, 時間, 🕰".utf8))],
                answers: [.close(1001)]),
            FrameCase(
                name: "frames after a close frame are ignored",
                frames: [
                    .close(1000), RawFrame(opcode: RawFrame.binary, payload: [1]), RawFrame(opcode: RawFrame.ping),
                    .close(1001), RawFrame(opcode: 0xF),
                ], answers: [.close(1000)]),
            refused("half a code is refused", 1002, RawFrame(opcode: RawFrame.closing, payload: [3])),
            refused(
                "a close frame with 126 bytes is refused", 1002, .close(1000, Array(repeating: 65, count: 124))),
        ]
        + [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].map { code in
            FrameCase(
                name: "code \(code) is answered with the same code", frames: [.close(code)], answers: [.close(code)])
        }
        + [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map { code in
            refused("code \(code) is refused", 1002, .close(code))
        }
        + invalidReasons.map { reason in
            refused("a reason with the bytes \(reason) is refused", 1007, .close(1000, reason))
        }

    // MARK: Limits

    private static let limits = [
        refused(
            "a frame over the limit is refused by its header", 1009,
            RawFrame(opcode: RawFrame.binary, claimedLength: UInt64(MessageSocket.maximumMessageByteCount) + 1)),
        refused(
            "a length of 63 bits is refused", 1009, RawFrame(opcode: RawFrame.binary, claimedLength: UInt64(Int64.max))),
        refused("a length of 64 bits is refused", 1009, RawFrame(opcode: RawFrame.binary, claimedLength: .max)),
        FrameCase(
            name: "a message in more fragments than allowed is refused, even if they are empty",
            frames: [RawFrame(opcode: RawFrame.binary, isLast: false)]
                + Array(
                    repeating: RawFrame(opcode: RawFrame.continuation, isLast: false),
                    count: MessageSocket.maximumFragmentCount),
            answers: [.close(1009)]),
        FrameCase(
            name: "a flood of pongs is refused",
            frames: Array(repeating: RawFrame(opcode: RawFrame.pong), count: 20_000), answers: [.close(1008)]),
    ]
}
