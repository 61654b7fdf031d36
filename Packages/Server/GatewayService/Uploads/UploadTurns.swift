/// Whose uploads come next where several users are connected: first those of the place that has had the least
/// (``PlaceTurns``), and of a place those of the user whose last transaction is longest ago. Pure bookkeeping.
struct UploadTurns {
    private var places = PlaceTurns()
    /// The last transaction of users who have something waiting or under way, by its number.
    private var lastOfUser: [String: Int] = [:]

    /// Users who are remembered.
    var userCount: Int { lastOfUser.count }

    private struct Lane {
        let standing: Double
        /// As how many users the place counts.
        let weight: Int
        /// Positions of what waits, next first.
        let order: [Int]
    }

    /// What waits, as its turns come: places one after the other, each with as many as it counts users, and round again. The
    /// first has its turn; those behind it may fill its transaction.
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

    /// A transaction begins.
    /// - Parameters:
    ///   - parts: whose changesets are in it, with what they cost, as ``UploadPace`` counts.
    ///   - number: greater than that of the one before.
    ///   - waiting: who waited, those of the transaction among them.
    ///   - underWay: users of the other transactions under way.
    ///   - mayGoOn: whether a user who waits might have been next.
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
