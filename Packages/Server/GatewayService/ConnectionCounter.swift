internal import Synchronization

/// Counts connections against a limit.
final class ConnectionCounter: Sendable {
    private let count = Mutex(0)
    private let maximum: Int

    init(maximum: Int) { self.maximum = maximum }

    func enter() -> Bool {
        count.withLock { count in
            guard count < maximum else { return false }
            count += 1
            return true
        }
    }

    var connectedCount: Int { count.withLock { $0 } }

    func leave() { count.withLock { $0 -= 1 } }
}
