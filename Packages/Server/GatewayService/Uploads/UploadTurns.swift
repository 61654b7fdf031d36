/// Decides whose uploads come next while several users are connected: the place that has received the least comes
/// first (``PlaceTurns``), and within a place the user whose last transaction is the longest ago. Pure bookkeeping.
struct UploadTurns {
    private var places = PlaceTurns()
    /// For users who have something waiting or in progress, the number of their last transaction.
    private var lastOfUser: [String: Int] = [:]

    /// The number of users that are remembered.
    var userCount: Int { lastOfUser.count }

    private struct Lane {
        let standing: Double
        /// The number of users that the place counts as.
        let weight: Int
        /// Positions of what waits, in order.
        let order: [Int]
    }

    /// Sorts what waits by turn: place after place, each with as many elements as the users that it counts as, round
    /// after round. It's the first element's turn; those after it may fill its transaction.
    func order<Element>(_ waiting: [Element], _ peer: (Element) -> Peer) -> [Element] {
        var byPlace: [String: [(last: Int, index: Int, user: String)]] = [:]
        for (index, element) in waiting.enumerated() {
            let peer = peer(element)
            byPlace[peer.place, default: []].append((lastOfUser[peer.user] ?? -1, index, peer.user))
        }
        let lanes = byPlace.map { place, own in
            Lane(
                standing: places.standing(of: place),
                weight: PlaceTurns.weight(userCount: Set(own.map(\.user)).count),
                order: own.sorted { ($0.last, $0.index) < ($1.last, $1.index) }.map(\.index))
        }.sorted { ($0.standing, $0.order[0]) < ($1.standing, $1.order[0]) }
        var result: [Element] = []
        result.reserveCapacity(waiting.count)
        var round = 0
        while result.count < waiting.count {
            for lane in lanes {
                for index in lane.order.dropFirst(round * lane.weight).prefix(lane.weight) {
                    result.append(waiting[index])
                }
            }
            round += 1
        }
        return result
    }

    /// Records that a transaction begins.
    /// - Parameters:
    ///   - parts: who has changesets in it, and what they cost in ``UploadPace``'s terms.
    ///   - number: greater than the previous transaction's.
    ///   - waiting: who was waiting, including those in the transaction.
    ///   - underWay: users of the other transactions in progress.
    ///   - mayGoOn: whether a waiting user might have been next.
    mutating func note(
        _ parts: [(peer: Peer, load: Int)], of number: Int, waiting: Set<Peer>, underWay: Set<String>,
        mayGoOn: (String) -> Bool
    ) {
        let busy = underWay.union(waiting.map(\.user))
        lastOfUser = lastOfUser.filter { busy.contains($0.key) }
        let userCounts = waiting.reduce(into: [String: Int]()) { counts, peer in
            if mayGoOn(peer.user) { counts[peer.place, default: 0] += 1 }
        }
        for (peer, load) in parts {
            lastOfUser[peer.user] = number
            places.serve(
                peer.place, cost: Double(load), userCount: userCounts[peer.place] ?? 1,
                waiting: userCounts.keys)
        }
    }
}
