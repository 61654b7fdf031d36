internal import DequeModule

/// The reads that wait for a slot: each user's in order of arrival, a place's users in turns, and the places by
/// ``PlaceTurns``.
struct WaitingReads {
    private var reads: [Peer: Deque<Int>] = [:]
    private var peers: [Int: Peer] = [:]
    /// How many reads of a user wait, wherever they are.
    private var counts: [String: Int] = [:]
    /// The users who wait at each place, once: the one whose turn it is first.
    private var users: [String: Deque<String>] = [:]
    /// Every place where somebody waits, once, by when it last had a turn.
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

    /// - Returns: whose it was; nil if the read doesn't wait.
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

    /// Takes the next read: of the place that holds the fewest slots for its size, the one whose turn it is among equals, and
    /// there of the user who holds the fewest.
    /// - Parameters:
    ///   - maximum: how many slots a user may hold.
    ///   - placeMaximum: how many slots the users of one place may hold.
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

    /// The position of the user who holds the fewest, the first in turn among equals; nil if none may hold more.
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
