internal import DequeModule

/// The reads that wait for a slot. A user's reads are served in order of arrival, a place's users take turns, and
/// places are ordered by ``PlaceTurns``.
struct WaitingReads {
    private var reads: [Peer: Deque<Int>] = [:]
    private var peers: [Int: Peer] = [:]
    /// How many reads of each user wait, over all places.
    private var counts: [String: Int] = [:]
    /// The users who wait at each place, each once, in order of their turns.
    private var users: [String: Deque<String>] = [:]
    /// All places where somebody waits, each once, ordered by when they last had a turn.
    private var places: Deque<String> = []
    private var turns = PlaceTurns()

    /// Slots that are held.
    struct Held {
        private(set) var users: [String: Int] = [:]
        private(set) var places: [String: Int] = [:]

        mutating func add(_ peer: Peer, _ count: Int = 1) {
            users[peer.user, default: 0] += count
            places[peer.place, default: 0] += count
        }
    }

    var count: Int { peers.count }
    var isEmpty: Bool { peers.isEmpty }

    func hasReads(of user: String) -> Bool { counts[user] != nil }

    mutating func add(_ id: Int, _ peer: Peer) {
        peers[id] = peer
        counts[peer.user, default: 0] += 1
        if reads[peer] == nil {
            if users[peer.place] == nil { places.append(peer.place) }
            users[peer.place, default: []].append(peer.user)
        }
        reads[peer, default: []].append(id)
    }

    /// - Returns: the peer of the read, or nil if the read doesn't wait.
    mutating func remove(_ id: Int) -> Peer? {
        guard let peer = forget(id), let index = reads[peer]?.firstIndex(of: id) else { return nil }
        reads[peer]?.remove(at: index)
        guard reads[peer]?.isEmpty == true else { return peer }
        reads[peer] = nil
        users[peer.place]?.removeAll { $0 == peer.user }
        if users[peer.place]?.isEmpty == true {
            users[peer.place] = nil
            places.removeAll { $0 == peer.place }
        }
        if isEmpty { turns.reset() }
        return peer
    }

    private mutating func forget(_ id: Int) -> Peer? {
        guard let peer = peers.removeValue(forKey: id) else { return nil }
        let left = (counts[peer.user] ?? 0) - 1
        counts[peer.user] = left > 0 ? left : nil
        return peer
    }

    /// Takes the next read. Chooses the place that holds the fewest slots for its size, with ties decided by turn,
    /// and there the user who holds the fewest.
    /// - Parameters:
    ///   - maximum: the most slots that a user may hold.
    ///   - placeMaximum: the most slots that the users of one place may hold.
    mutating func take(_ held: Held, maximum: (String) -> Int, placeMaximum: Int) -> (id: Int, peer: Peer)? {
        var best: (index: Int, user: Int, load: Double, standing: Double)?
        var eligible: [String] = []
        for (index, place) in places.enumerated() {
            let count = held.places[place] ?? 0
            guard count < placeMaximum, let users = users[place], let user = next(of: users, held, maximum) else {
                continue
            }
            eligible.append(place)
            let load = Double(count) / Double(PlaceTurns.weight(userCount: users.count))
            let standing = turns.standing(of: place)
            if let best, (best.load, best.standing) <= (load, standing) { continue }
            best = (index, user, load, standing)
        }
        guard let best, let userCount = users[places[best.index]]?.count else { return nil }
        let place = places[best.index]
        turns.serve(place, cost: 1, userCount: userCount, waiting: eligible)
        places.remove(at: best.index)
        guard let user = users[place]?.remove(at: best.user) else { return nil }
        let peer = Peer(user, at: place)
        let id = reads[peer]?.popFirst()
        if reads[peer]?.isEmpty == true { reads[peer] = nil } else { users[place]?.append(user) }
        if users[place]?.isEmpty == true { users[place] = nil } else { places.append(place) }
        guard let id, forget(id) != nil else { return nil }
        if isEmpty { turns.reset() }
        return (id, peer)
    }

    /// The position of the user who holds the fewest slots, with ties decided by turn. Nil if none of them may hold
    /// more.
    private func next(of users: Deque<String>, _ held: Held, _ maximum: (String) -> Int) -> Int? {
        var found: (index: Int, held: Int)?
        for (index, user) in users.enumerated() {
            let count = held.users[user] ?? 0
            guard count < maximum(user), count < found?.held ?? .max else { continue }
            found = (index, count)
            if count == 0 { break }
        }
        return found?.index
    }
}
