internal import NIOCore
internal import Synchronization

/// Messages that arrived on a client's connection and weren't taken yet. The event loop adds messages. The one reader
/// takes all available ones at once, and is woken only once for everything that was read from the network together.
///
/// One lock guards everything, because each side needs all of it: whether to wake the reader depends on what is
/// available, and whether to read from the network depends on how much.
final class MessageInbox: Sendable {
    /// Beyond this many bytes, nothing more is read from the network until the messages are taken.
    static let maximumByteCount = 1 << 20
    /// What a message counts as, in addition to its bytes.
    private static let messageOverhead = 64

    private struct State {
        var messages: [ByteBuffer] = []
        var byteCount = 0
        /// Nil while the connection lasts.
        var end: Result<Void, any Error>?
        /// Resumed once there is something to take.
        var reader: CheckedContinuation<Void, Never>?
        /// Resumes reading from the network, if it is suspended.
        var resumeReading: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    // MARK: The event loop

    /// Adds a message. Call ``wake()`` after the last message that was read together with this one.
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

    /// - Parameter resume: called once, from the reader's thread, when messages were taken.
    /// - Returns: whether reading from the network must be suspended until then.
    func putsOffReading(until resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.byteCount > Self.maximumByteCount else { return false }
            state.resumeReading = resume
            return true
        }
    }

    /// Marks the end: nothing more arrives. Messages that were added before can still be taken. Only the first call
    /// counts.
    func end(_ result: Result<Void, any Error>) {
        state.withLock { if $0.end == nil { $0.end = result } }
        wake()
    }

    // MARK: The reader

    /// Takes all available messages, in order. Waits if there are none.
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
            // A cancellation that came earlier isn't reported again.
            guard state.messages.isEmpty, state.end == nil, !Task.isCancelled else { return true }
            state.reader = reader
            return false
        }
        if isReady { reader.resume() }
    }
}
