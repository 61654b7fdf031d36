import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// How much memory a server's answers take until their clients have taken them, by address and altogether. Answers beyond
/// that aren't refused, since a request may have changed something: those whose clients are the slowest are given up.
///
/// What isn't counted is bounded otherwise. Of answers of up to ``freeByteCount`` and of streams, such as exports and live
/// pages, which are made as their client takes them, a connection has two parts at most.
package final class AnswerBudget: Sendable {
    /// Smaller answers aren't counted, in bytes: as much as a connection collects anyway.
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

    /// What all answers take that are counted, in bytes.
    package var byteCount: Int { state.withLock { $0.shares.byteCount } }
    /// The most that they took so far, in bytes.
    package var maximumByteCount: Int { state.withLock { $0.shares.maximumByteCount } }

    /// Counts an answer with a large body, and gives up others if need be.
    func hold(_ response: inout Response, for context: EdgeContext) async {
        guard let count = response.body.contentLength, count > Self.freeByteCount else { return }
        let collector = BodyCollector()
        // A body that can't be collected is passed on as it is, and fails for its reader.
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

/// Takes a body out of an answer.
private final class BodyCollector: ResponseBodyWriter {
    private(set) var body = ByteBuffer()

    func write(_ buffer: ByteBuffer) {
        // Most bodies are one buffer, which isn't copied.
        if body.readableBytes == 0 { body = buffer } else { body.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
