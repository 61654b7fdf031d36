import Synchronization

/// How often the hostile devices connected, and how the last connection ended. Shows whether they attack at all.
final class HostileTally: Sendable {
    private let state = Mutex((count: 0, lastEnd: "none ended"))

    func begin() { state.withLock { $0.count += 1 } }

    func end(_ reason: String) { state.withLock { $0.lastEnd = reason } }

    var text: String { state.withLock { "\($0.count) connections; the last end: \($0.lastEnd.prefix(200))" } }
}
