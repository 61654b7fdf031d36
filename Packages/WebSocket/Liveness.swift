internal import Synchronization

/// When the other side was last heard. Shared by the reader, which sets it, and the pinging task.
final class Liveness: Sendable {
    private let last = Mutex(ContinuousClock.now)

    func heard() { last.withLock { $0 = .now } }

    var silence: Duration { last.withLock { $0.duration(to: .now) } }
}
