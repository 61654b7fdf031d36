internal import Synchronization

/// The users with open sessions on a gateway. A single user may use all of the gateway's time, and so may a single
/// place.
final class ConnectedUsers: Sendable {
    private struct State {
        /// The number of sessions of each user.
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
