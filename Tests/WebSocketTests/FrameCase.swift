import Testing

/// Frames that one end sends, and what the other answers.
struct FrameCase: Sendable, CustomTestStringConvertible {
    enum Answer: Hashable, Sendable {
        case message([UInt8])
        case pong([UInt8])
        case close(UInt16?)
    }

    /// The case's name, as a claim.
    let name: String
    let frames: [RawFrame]
    let answers: [Answer]

    var testDescription: String { name }

    /// The size beyond which a case isn't sent one byte at a time.
    static let maximumDripByteCount = 1_000

    func bytes(fromClient isFromClient: Bool) -> [UInt8] { frames.flatMap { $0.bytes(fromClient: isFromClient) } }

    /// Sends the frames and reads to the end of the connection. A case without a close frame is ended with one.
    func answers(of peer: RawPeer, fromClient isFromClient: Bool, _ delivery: RawPeer.Delivery) async throws -> [Answer]
    {
        await peer.send(bytes(fromClient: isFromClient), delivery)
        var found: [Answer] = []
        while found.count < answers.count, let answer = try await next(peer, isFromClient) { found.append(answer) }
        let isClosed = found.contains { if case .close = $0 { true } else { false } }
        // A client waits until the server ends the connection.
        if isClosed, !isFromClient { return found }
        if !isClosed { await peer.send(RawFrame.close(1000).bytes(fromClient: isFromClient)) }
        while let answer = try await next(peer, isFromClient) {
            found.append(answer)
            if case .close = answer, !isFromClient { break }
        }
        return found
    }

    private func next(_ peer: RawPeer, _ isFromClient: Bool) async throws -> Answer? {
        while let frame = try await peer.next(isMasked: !isFromClient) {
            switch frame.opcode {
            case RawFrame.binary: return .message(frame.payload)
            case RawFrame.pong: return .pong(frame.payload)
            case RawFrame.closing:
                return .close(frame.payload.count < 2 ? nil : UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]))
            default: continue
            }
        }
        return nil
    }

    /// The expected answers, with the normal end if they have none.
    var expected: [Answer] {
        let closes = answers.contains { if case .close = $0 { true } else { false } }
        return closes ? answers : answers + [.close(1000)]
    }
}
