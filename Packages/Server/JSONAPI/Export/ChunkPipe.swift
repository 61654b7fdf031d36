import Synchronization

/// Passes chunks of bytes from one task to another, with backpressure: only a few may wait.
final class ChunkPipe: Sendable {
    /// The most chunks that may wait.
    static let capacity = 2

    private struct State {
        var chunks: [[UInt8]] = []
        var takenCount = 0
        var end: Result<Void, any Error>?
        /// The receiver takes no more chunks.
        var isAbandoned = false
        var sender: CheckedContinuation<Void, Never>?
        var receiver: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Sends a chunk once there is room.
    /// - Throws: `CancellationError` if the task is cancelled, or if the receiver takes no more chunks.
    func send(_ chunk: [UInt8]) async throws {
        while true {
            try Task.checkCancellation()
            let (isTaken, isAbandoned, receiver) = state.withLock { state in
                let isTaken = state.chunks.count < Self.capacity && !state.isAbandoned
                if isTaken { state.chunks.append(chunk) }
                return (isTaken, state.isAbandoned, isTaken ? state.receiver.take() : nil)
            }
            receiver?.resume()
            if isTaken { return }
            if isAbandoned { throw CancellationError() }
            await wait(.sender) { $0.chunks.count < Self.capacity || $0.isAbandoned }
        }
    }

    /// Ends the pipe after the last chunk. If it's called more than once, the first end counts.
    func finish(_ end: Result<Void, any Error>) {
        state.withLock { state in
            if state.end == nil { state.end = end }
            return state.receiver.take()
        }?.resume()
    }

    /// The next chunk; nil after the last one.
    /// - Throws: the sender's error; `CancellationError` if the task is cancelled.
    func next() async throws -> [UInt8]? {
        while true {
            try Task.checkCancellation()
            let (chunk, end, sender) = state.withLock { state in
                let chunk = state.chunks.isEmpty ? nil : state.chunks.removeFirst()
                if chunk != nil { state.takenCount += 1 }
                return (chunk, state.end, chunk == nil ? nil : state.sender.take())
            }
            sender?.resume()
            if let chunk { return chunk }
            if let end {
                try end.get()
                return nil
            }
            await wait(.receiver) { !$0.chunks.isEmpty || $0.end != nil }
        }
    }

    /// Discards everything that is waiting or sent from now on.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.chunks = []
            return state.sender.take()
        }?.resume()
    }

    /// Abandons the pipe once it has been full for this long without a chunk being taken.
    /// - Throws: `CancellationError` if the task is cancelled.
    func abandon(afterStall limit: Duration) async throws {
        var before: Int?
        while true {
            try await Task.sleep(for: limit)
            let taken = state.withLock { $0.chunks.count < Self.capacity || $0.end != nil ? nil : $0.takenCount }
            if let taken, taken == before { return abandon() }
            before = taken
        }
    }

    private enum Side { case sender, receiver }

    private func wait(_ side: Side, until isOver: @Sendable (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // Checked under the lock, so that a later cancellation finds the waiter.
                    if isOver(state) || Task.isCancelled { return true }
                    switch side {
                    case .sender: state.sender = continuation
                    case .receiver: state.receiver = continuation
                    }
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { side == .sender ? $0.sender.take() : $0.receiver.take() }?.resume()
        }
    }
}
