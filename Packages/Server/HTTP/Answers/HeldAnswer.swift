import Hummingbird
import NIOCore
import Synchronization

/// The body of an answer that is kept until its client has taken it. It counts in an ``AnswerBudget`` for as long as somebody
/// holds it, also if nobody comes to write it.
final class HeldAnswer: Sendable {
    /// How much is given to a connection at a time, in bytes: less than a channel collects before it says that it's full, so
    /// that only what the network doesn't take is waited for.
    private static let partByteCount = 32 << 10

    /// Its answer was given up in place of others'.
    struct GivenUp: Error {}

    private let budget: AnswerBudget
    private let channel: any Channel
    /// What is still to be written; nil once it's given up.
    private let rest: Mutex<ByteBuffer?>

    init(_ body: ByteBuffer, to channel: any Channel, in budget: AnswerBudget) {
        self.budget = budget
        self.channel = channel
        rest = Mutex(body)
    }

    deinit { budget.remove(self) }

    /// - Throws: ``GivenUp``, or what the connection ends with.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        while let part = try next() {
            try await writer.write(part)
            budget.note(self)
        }
        try await writer.finish(nil)
    }

    /// Frees the memory, and closes the connection: what was written of an answer can't be taken back.
    func giveUp() {
        rest.withLock { $0 = nil }
        channel.close(promise: nil)
    }

    /// A copy, so that a part that waits for the network doesn't keep the whole body; nil at the end.
    private func next() throws -> ByteBuffer? {
        try rest.withLock { rest in
            guard let count = rest?.readableBytes else { throw GivenUp() }
            return rest?.readBytes(length: min(count, Self.partByteCount)).flatMap {
                $0.isEmpty ? nil : ByteBuffer(bytes: $0)
            }
        }
    }
}
