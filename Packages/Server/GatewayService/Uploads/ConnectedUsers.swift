internal import Synchronization

/// Whose sessions a gateway has open: one user's alone may take all of its time.
final class ConnectedUsers: Sendable {
    /// By user, how many sessions.
    private let counts = Mutex<[String: Int]>([:])

    /// Whether several users are connected.
    var areSeveral: Bool { counts.withLock { $0.count > 1 } }

    func enter(_ user: String) { counts.withLock { $0[user, default: 0] += 1 } }

    func leave(_ user: String) {
        counts.withLock { counts in
            guard let count = counts[user] else { return }
            counts[user] = count > 1 ? count - 1 : nil
        }
    }
}
