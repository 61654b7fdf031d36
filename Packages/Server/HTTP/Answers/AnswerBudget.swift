import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Limits the memory that a server's answers occupy until their clients have read them, by address and in total. An
/// answer beyond the limit isn't refused, since its request may have changed something. Instead the server gives up the
/// answers with the slowest clients.
///
/// Answers that aren't counted have other bounds. These are answers of up to ``freeByteCount``, and streams such as
/// exports and live pages, which are produced as the client reads them: a connection holds at most two parts of one.
package final class AnswerBudget: Sendable {
    /// Smaller answers aren't counted, in bytes: a connection buffers that much anyway.
    package static let freeByteCount = 64 << 10

    private struct State {
        var shares: AnswerShares<ObjectIdentifier>
        var givingUp: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state: Mutex<State>

    init(_ limits: HTTPLimits) {
        state = Mutex(
            State(shares: AnswerShares(limitPerAddress: limits.answerBytesPerAddress, limit: limits.answerBytes)))
    }

    /// The memory of all counted answers, in bytes.
    package var byteCount: Int { state.withLock { $0.shares.byteCount } }
    /// The peak of ``byteCount`` so far.
    package var maximumByteCount: Int { state.withLock { $0.shares.maximumByteCount } }

    /// Counts an answer with a large body, and gives up other answers if necessary.
    func hold(_ response: inout Response, for context: EdgeContext) async {
        guard let count = response.body.contentLength, count > Self.freeByteCount else { return }
        let collector = BodyCollector()
        // A body that can't be collected is passed on unchanged, and fails for its reader.
        guard (try? await response.body.write(collector)) != nil else { return }
        let answer = HeldAnswer(collector.body, to: context.channel, in: self)
        let givenUp = add(answer, count, of: context.addressGroup)
        response.body = ResponseBody(contentLength: count) { try await answer.write(to: &$0) }
        guard !givenUp.isEmpty else { return }
        context.logger.info(
            "Slow clients' connections are closed: too much waits to be taken", metadata: ["count": "\(givenUp.count)"])
        for giveUp in givenUp { giveUp() }
    }

    private func add(_ answer: HeldAnswer, _ byteCount: Int, of address: String) -> [@Sendable () -> Void] {
        let id = ObjectIdentifier(answer)
        return state.withLock { state in
            let givenUp = state.shares.add(id, byteCount, of: address, at: .now)
            state.givingUp[id] = { [weak answer] in answer?.giveUp() }
            return givenUp.compactMap { state.givingUp.removeValue(forKey: $0) }
        }
    }

    func note(_ answer: HeldAnswer) { state.withLock { $0.shares.note(ObjectIdentifier(answer), at: .now) } }

    func remove(_ answer: HeldAnswer) {
        state.withLock { state in
            state.shares.remove(ObjectIdentifier(answer))
            state.givingUp[ObjectIdentifier(answer)] = nil
        }
    }
}

/// Collects the body of an answer.
private final class BodyCollector: ResponseBodyWriter {
    private(set) var body = ByteBuffer()

    func write(_ buffer: ByteBuffer) {
        // Most bodies are one buffer, which isn't copied.
        if body.readableBytes == 0 { body = buffer } else { body.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
