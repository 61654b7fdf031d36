internal import NIOCore
internal import Synchronization

/// What came on a client's connection and wasn't taken yet. The event loop puts messages in; the one reader takes all that
/// are there at once, and is woken once for all that were read from the network together.
///
/// One lock guards everything, since each side needs all of it: whether the reader must be woken depends on what is there,
/// and whether the network is read depends on how much.
final class MessageInbox: Sendable {
    /// Beyond this size, in bytes, nothing is read from the network until the messages are taken.
    static let maximumByteCount = 1 << 20
    /// What a message counts in addition to its bytes.
    private static let messageOverhead = 64

    private struct State {
        var messages: [ByteBuffer] = []
        var byteCount = 0
        /// Nil while the connection lasts.
        var end: Result<Void, any Error>?
        /// Resumed once there is something to take.
        var reader: CheckedContinuation<Void, Never>?
        /// Reads from the network again, if that was put off.
        var resumeReading: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    // MARK: The event loop

    /// Call ``wake()`` after the last message that was read together with this one.
    func add(_ message: ByteBuffer) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.messages.append(message)
            state.byteCount += message.readableBytes + Self.messageOverhead
        }
    }

    func wake() {
        let reader = state.withLock { state in
            let hasNews = !state.messages.isEmpty || state.end != nil
            return hasNews ? state.reader.take() : nil
        }
        reader?.resume()
    }

    /// - Parameter resume: called once, when messages were taken; from the reader's thread.
    /// - Returns: whether reading from the network must be put off until then.
    func putsOffReading(until resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.byteCount > Self.maximumByteCount else { return false }
            state.resumeReading = resume
            return true
        }
    }

    /// Nothing more comes. What was added before is still there. Only the first call counts.
    func end(_ result: Result<Void, any Error>) {
        state.withLock { if $0.end == nil { $0.end = result } }
        wake()
    }

    // MARK: The reader

    /// All messages that are there, in order; waits for one if there is none.
    /// - Returns: nil at the end of the connection.
    /// - Throws: why the connection ended, or `CancellationError`.
    func take(isolation: isolated (any Actor)? = #isolation) async throws -> [ByteBuffer]? {
        while true {
            try Task.checkCancellation()
            let (messages, end, resume) = state.withLock { state in
                defer {
                    state.messages = []
                    state.byteCount = 0
                }
                return (state.messages, state.end, state.resumeReading.take())
            }
            resume?()
            if !messages.isEmpty { return messages }
            if let end {
                try end.get()
                return nil
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation(isolation: isolation) { wait($0) }
            } onCancel: {
                state.withLock { $0.reader.take() }?.resume()
            }
        }
    }

    private func wait(_ reader: CheckedContinuation<Void, Never>) {
        let isReady = state.withLock { state in
            // A cancellation that came before isn't told again.
            guard state.messages.isEmpty, state.end == nil, !Task.isCancelled else { return true }
            state.reader = reader
            return false
        }
        if isReady { reader.resume() }
    }
}
