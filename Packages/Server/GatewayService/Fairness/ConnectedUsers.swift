internal import Synchronization

/// Whose sessions a gateway has open: one user's alone may take all of its time, and so may those of one place.
final class ConnectedUsers: Sendable {
    private struct State {
        /// How many sessions.
        var users: [String: Int] = [:]
        var places: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// Whether several users are connected.
    var areSeveral: Bool { state.withLock { $0.users.count > 1 } }

    /// Whether users of several places are connected.
    var placesAreSeveral: Bool { state.withLock { $0.places.count > 1 } }

    func enter(_ peer: Peer) { change(peer, by: 1) }

    func leave(_ peer: Peer) { change(peer, by: -1) }

    private func change(_ peer: Peer, by step: Int) {
        func count(_ name: String, in counts: inout [String: Int]) {
            let count = (counts[name] ?? 0) + step
            counts[name] = count > 0 ? count : nil
        }
        state.withLock { state in
            count(peer.user, in: &state.users)
            count(peer.place, in: &state.places)
        }
    }
}
