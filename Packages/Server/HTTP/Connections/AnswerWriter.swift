import HTTPTypes
import HummingbirdCore
import NIOCore

/// Writes one response to a connection. Small parts wait for the next one, so that most responses are sent in one
/// piece; a part of a stream is sent as soon as it is there.
final class AnswerWriter: ResponseBodyWriter {
    /// A route's mistake, after which the connection can't be used any more.
    enum Mistake: Error, CustomStringConvertible {
        case tooLong(promised: Int)
        case tooShort(promised: Int, actual: Int)
        case unfinished

        var description: String {
            switch self {
            case .tooLong(let promised): "The body is longer than the \(promised) bytes of its Content-Length."
            case .tooShort(let promised, let actual):
                "The body has \(actual) bytes instead of the \(promised) of its Content-Length."
            case .unfinished: "The body was never finished."
            }
        }
    }

    /// Larger parts of a body of known length aren't copied.
    private static let maximumCopiedByteCount = 16 << 10

    private let connection: Connection
    private let framing: ResponseFraming
    /// How many bytes of a body of known length are missing.
    private var missingByteCount: Int
    private var waiting: ByteBuffer
    /// Whether the whole response was written.
    private(set) var isFinished = false

    /// - Parameter head: the response's head as it is sent.
    init(_ connection: Connection, head: ByteBuffer, _ framing: ResponseFraming) {
        self.connection = connection
        self.framing = framing
        waiting = head
        if case .length(let count) = framing { missingByteCount = count } else { missingByteCount = 0 }
    }

    func write(_ buffer: ByteBuffer) async throws {
        var part = buffer
        guard part.readableBytes > 0 else { return }
        switch framing {
        case .none: return
        case .length(let count):
            guard part.readableBytes <= missingByteCount else { throw Mistake.tooLong(promised: count) }
            missingByteCount -= part.readableBytes
            guard missingByteCount > 0 || part.readableBytes > Self.maximumCopiedByteCount else {
                waiting.writeBuffer(&part)
                return
            }
            try await send(part)
        case .untilClose: try await send(part)
        case .chunked:
            waiting.writeString(String(part.readableBytes, radix: 16))
            waiting.writeStaticString("\r\n")
            waiting.writeBuffer(&part)
            waiting.writeStaticString("\r\n")
            try await sendWaiting()
        }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {
        if case .length(let count) = framing, missingByteCount > 0 {
            throw Mistake.tooShort(promised: count, actual: count - missingByteCount)
        }
        if framing == .chunked { waiting.writeLastChunk(trailingHeaders) }
        isFinished = true
        guard waiting.readableBytes > 0 else { return }
        try await connection.write(waiting)
    }

    /// Sends what waits for the next part: a stream's head, since its body may begin much later.
    func sendWaiting() async throws {
        let bytes = waiting
        waiting = ByteBuffer()
        try await connection.write(bytes)
    }

    private func send(_ part: ByteBuffer) async throws {
        let before = waiting
        waiting = ByteBuffer()
        if before.readableBytes == 0 {
            try await connection.write(part)
        } else {
            try await connection.write(before, part)
        }
    }
}
