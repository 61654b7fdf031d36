import Hummingbird
import NIOCore
import Synchronization

/// The body of an answer, kept until its client has read it. It counts in an ``AnswerBudget`` as long as anything holds
/// a reference to it, even if it is never written.
final class HeldAnswer: Sendable {
    /// How much is handed to a connection at a time, in bytes. That is less than a channel buffers before it reports
    /// that it's full, so writing only waits for bytes that the network doesn't accept.
    private static let partByteCount = 32 << 10

    /// The answer was given up in favour of others.
    struct GivenUp: Error {}

    private let budget: AnswerBudget
    private let channel: any Channel
    /// The bytes still to be written; nil once the answer is given up.
    private let rest: Mutex<ByteBuffer?>

    init(_ body: ByteBuffer, to channel: any Channel, in budget: AnswerBudget) {
        self.budget = budget
        self.channel = channel
        rest = Mutex(body)
    }

    deinit { budget.remove(self) }

    /// - Throws: ``GivenUp``, or the error that ended the connection.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        while let part = try next() {
            try await writer.write(part)
            budget.note(self)
        }
        try await writer.finish(nil)
    }

    /// Frees the memory and closes the connection: the part that was already written can't be taken back.
    func giveUp() {
        rest.withLock { $0 = nil }
        channel.close(promise: nil)
    }

    /// The next part; nil at the end. It's a copy, so that a part that waits for the network doesn't keep the whole
    /// body in memory.
    private func next() throws -> ByteBuffer? {
        try rest.withLock { rest in
            guard let count = rest?.readableBytes else { throw GivenUp() }
            return rest?.readBytes(length: min(count, Self.partByteCount)).flatMap {
                $0.isEmpty ? nil : ByteBuffer(bytes: $0)
            }
        }
    }
}
