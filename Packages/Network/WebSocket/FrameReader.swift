internal import NIOCore
internal import NIOWebSocket

/// Checks the other side's frames against RFC 6455 and joins fragments: frame in, message out, without I/O. NIO's
/// decoder has already refused control frames that are fragmented or longer than 125 bytes, and frames longer than a
/// message may be.
struct FrameReader {
    /// The number of pings and pongs the other side may send between two of our pings (``MessageSocket/pingInterval``).
    static let maximumControlFrameCount = 1_024

    private let isClient: Bool
    private let maximumMessageByteCount: Int
    private let maximumFragmentCount: Int
    private var message: UnfinishedMessage?
    private var controlFrameCount = 0

    private struct UnfinishedMessage {
        var data: ByteBuffer
        var fragmentCount: Int
    }

    /// - Parameter isClient: whether this end is the client.
    init(
        isClient: Bool, maximumMessageByteCount: Int = MessageSocket.maximumMessageByteCount,
        maximumFragmentCount: Int = MessageSocket.maximumFragmentCount
    ) {
        self.isClient = isClient
        self.maximumMessageByteCount = maximumMessageByteCount
        self.maximumFragmentCount = maximumFragmentCount
    }

    /// Resets the count of control frames, when we send a ping.
    mutating func didPing() { controlFrameCount = 0 }

    /// - Returns: a whole binary message or a control frame, unmasked, or nil if the message isn't complete.
    mutating func receive(_ frame: WebSocketFrame) throws(FrameViolation) -> WebSocketFrame? {
        guard (frame.maskKey == nil) == isClient else {
            throw FrameViolation(
                .protocolError, isClient ? "a masked frame from a server" : "a frame from a client without a mask")
        }
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            throw FrameViolation(.protocolError, "a frame with a reserved bit, though no extension was negotiated")
        }
        switch frame.opcode {
        case .binary, .text:
            guard message == nil else {
                throw FrameViolation(.protocolError, "a new message before the last fragment of the one before it")
            }
            // Only binary messages are accepted, so UTF-8 never needs checking.
            guard frame.opcode == .binary else {
                throw FrameViolation(.unacceptableData, "a text message; only binary messages are used")
            }
            return try add(frame.unmaskedData, isLast: frame.fin)
        case .continuation:
            guard message != nil else {
                throw FrameViolation(.protocolError, "a continuation frame without a message to continue")
            }
            return try add(frame.unmaskedData, isLast: frame.fin)
        case .ping, .pong:
            controlFrameCount += 1
            guard controlFrameCount <= Self.maximumControlFrameCount else {
                throw FrameViolation(
                    .policyViolation,
                    "more than \(Self.maximumControlFrameCount) pings and pongs in \(MessageSocket.pingInterval)")
            }
            return WebSocketFrame(fin: true, opcode: frame.opcode, data: frame.unmaskedData)
        case .connectionClose:
            let data = frame.unmaskedData
            try check(closing: data)
            return WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        default:
            throw FrameViolation(
                .protocolError, "a frame with the reserved opcode \(UInt8(webSocketOpcode: frame.opcode))")
        }
    }

    private mutating func add(_ data: ByteBuffer, isLast: Bool) throws(FrameViolation) -> WebSocketFrame? {
        if isLast, message == nil {
            guard data.readableBytes <= maximumMessageByteCount else { throw tooLarge }
            return WebSocketFrame(fin: true, opcode: .binary, data: data)
        }
        var unfinished = message ?? UnfinishedMessage(data: ByteBuffer(), fragmentCount: 0)
        // Drops the second reference, so that appending doesn't copy the buffer.
        message = nil
        unfinished.fragmentCount += 1
        guard
            unfinished.fragmentCount < maximumFragmentCount
                || (isLast && unfinished.fragmentCount == maximumFragmentCount)
        else {
            throw FrameViolation(.messageTooLarge, "a message in more than \(maximumFragmentCount) fragments")
        }
        guard unfinished.data.readableBytes + data.readableBytes <= maximumMessageByteCount else { throw tooLarge }
        // Copied, because a slice would keep the whole read buffer in memory.
        unfinished.data.writeImmutableBuffer(data)
        if isLast { return WebSocketFrame(fin: true, opcode: .binary, data: unfinished.data) }
        message = unfinished
        return nil
    }

    private var tooLarge: FrameViolation {
        FrameViolation(.messageTooLarge, "a message of more than \(maximumMessageByteCount) bytes")
    }

    /// RFC 6455 §5.5.1: a close frame is empty, or has a code and possibly a reason in UTF-8.
    private func check(closing data: ByteBuffer) throws(FrameViolation) {
        guard data.readableBytes > 0 else { return }
        var data = data
        guard let code = data.readWebSocketErrorCode() else {
            throw FrameViolation(.protocolError, "a close frame with an incomplete code")
        }
        guard code.mayBeSent else {
            throw FrameViolation(
                .protocolError, "a close frame with the code \(UInt16(webSocketErrorCode: code)), which may not be sent"
            )
        }
        guard String(validating: data.readableBytesView, as: UTF8.self) != nil else {
            throw FrameViolation(.dataInconsistentWithMessage, "a close frame whose reason isn't UTF-8")
        }
    }
}
