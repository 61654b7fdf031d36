import Synchronization

/// Distinguishes the first call from later ones.
final class FirstTime: Sendable {
    private let happened = Mutex(false)

    func isNow() -> Bool {
        happened.withLock { happened in
            defer { happened = true }
            return !happened
        }
    }
}
