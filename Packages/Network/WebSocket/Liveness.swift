internal import Synchronization

/// When the other side was last heard from. Shared by the reader, which sets it, and the task that watches for silence.
final class Liveness: Sendable {
    /// The time silence is measured from, or nil while nobody reads, because messages wait for their reader.
    private let since: Mutex<ContinuousClock.Instant?> = Mutex(.now)

    /// Starts measuring silence from now.
    func listen() { since.withLock { $0 = .now } }

    func pause() { since.withLock { $0 = nil } }

    var silence: Duration { since.withLock { $0?.duration(to: .now) ?? .zero } }
}
