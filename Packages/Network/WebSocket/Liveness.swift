internal import Synchronization

/// When the other side was last heard. Shared by the reader, which sets it, and the task that watches for silence.
final class Liveness: Sendable {
    /// The time from which silence counts; nil while nobody listens, because the last message is still worked on.
    private let since: Mutex<ContinuousClock.Instant?> = Mutex(.now)

    /// The other side was heard, or shall be from now on.
    func listen() { since.withLock { $0 = .now } }

    func pause() { since.withLock { $0 = nil } }

    var silence: Duration { since.withLock { $0?.duration(to: .now) ?? .zero } }
}
