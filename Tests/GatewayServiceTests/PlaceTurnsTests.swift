import RandomValues
import Testing

@testable import GatewayService

/// Who is next when users at several addresses are waiting, counted in turns.
@Suite struct PlaceTurnsTests {
    @Test("a place counts as the square root of its users, and as eight at most")
    func weights() {
        let weights = [0, 1, 2, 4, 5, 9, 10, 49, 50, 64, 65, 2_000].map { PlaceTurns.weight(userCount: $0) }
        #expect(weights == [1, 1, 2, 2, 3, 3, 4, 7, 8, 8, 8, 8])
    }

    @Test("places that always wait get turns in proportion to their weights, at most a turn ahead", arguments: 0..<50)
    func shares(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let userCounts = Dictionary(
            uniqueKeysWithValues: (0..<Int.random(in: 2...8, using: &random)).map {
                ("place \($0)", Int.random(in: 1...200, using: &random))
            })
        var turns = PlaceTurns()
        var served: [String: Double] = [:]
        for _ in 0..<500 {
            let next = userCounts.keys.min { (turns.standing(of: $0), $0) < (turns.standing(of: $1), $1) } ?? ""
            turns.serve(next, cost: 1, userCount: userCounts[next] ?? 0, waiting: userCounts.keys)
            served[next, default: 0] += 1 / Double(PlaceTurns.weight(userCount: userCounts[next] ?? 0))
            let shares = userCounts.keys.map { served[$0] ?? 0 }
            #expect((shares.max() ?? 0) - (shares.min() ?? 0) < 1.000_001)
        }
    }

    @Test("a place that comes later is next, but doesn't catch up on the past")
    func newcomers() {
        var turns = PlaceTurns()
        for _ in 0..<1_000 { turns.serve("a", cost: 1, userCount: 1, waiting: ["a"]) }
        var order = ""
        for _ in 0..<6 {
            let next = turns.standing(of: "b") < turns.standing(of: "a") ? "b" : "a"
            order += next
            turns.serve(next, cost: 1, userCount: 1, waiting: ["a", "b"])
        }
        #expect(order.hasPrefix("b") && !order.contains("bbb"))
        #expect(turns.count <= 2)
    }

    // MARK: Reads

    @Test(
        "each read comes once, each user's in order, and nobody gets two turns while another user of their place waits",
        arguments: 0..<50)
    func reads(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var waiting = WaitingReads()
        /// Which reads are waiting, and for whom: a copy of what the queue should know.
        var known: [Int: Peer] = [:]
        /// Which others of a peer's place have had a turn since the peer last had one, or came.
        var passed: [Peer: [Peer]] = [:]
        for id in 0..<1_000 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let place = Int.random(in: 0..<4, using: &random)
                let peer = Peer(
                    "user \(place) \(Int.random(in: 0...place * 3, using: &random))", from: "10.0.0.\(place)")
                if !known.values.contains(peer) { passed[peer] = [] }
                known[id] = peer
                waiting.add(id, peer)
            } else if Int.random(in: 0..<5, using: &random) == 0, let left = known.keys.min() {
                #expect(waiting.remove(left) == known.removeValue(forKey: left))
                #expect(waiting.remove(left) == nil)
            } else if let (id, peer) = waiting.take(WaitingReads.Held(), maximum: { _ in .max }, placeMaximum: .max) {
                #expect(known[id] == peer)
                #expect(known.filter { $0.value == peer }.keys.min() == id)
                known[id] = nil
                for other in Set(known.values) where other != peer && other.place == peer.place {
                    passed[other, default: []].append(peer)
                    let count = (passed[other] ?? []).filter { $0 == peer }.count
                    #expect(count < 2)
                }
                passed[peer] = []
            } else {
                #expect(known.isEmpty)
            }
            #expect(waiting.count == known.count)
            #expect(Set(known.values.map(\.user)).allSatisfy(waiting.hasReads))
        }
    }

    @Test("64 accounts at one address count as no more than eight users against a user at another")
    func accountsInBulk() {
        var waiting = WaitingReads()
        for id in 0..<6_400 { waiting.add(id, Peer("account \(id % 64)", from: "192.0.2.1")) }
        func next() -> Peer? {
            waiting.take(WaitingReads.Held(), maximum: { _ in .max }, placeMaximum: .max)?.peer
        }
        for _ in 0..<100 { _ = next() }
        for id in 0..<10 { waiting.add(10_000 + id, Peer("victim", from: "198.51.100.7")) }
        #expect(next()?.user == "victim", "A newcomer is next.")
        var gap = 0
        for _ in 0..<81 {
            let user = next()?.user
            gap = user == "victim" ? 0 : gap + 1
            #expect(gap <= PlaceTurns.maximumWeight)
        }
        #expect(!waiting.hasReads(of: "victim"))
    }

    @Test("a venue's 500 users behind one address get eight turns per turn of a single user, and each gets one")
    func venue() {
        var waiting = WaitingReads()
        for id in 0..<500 { waiting.add(id, Peer("guest \(id)", from: "192.0.2.1")) }
        for id in 500..<1_000 { waiting.add(id, Peer("loner", from: "198.51.100.7")) }
        let first = (0..<90).compactMap { _ in
            waiting.take(WaitingReads.Held(), maximum: { _ in .max }, placeMaximum: .max)?.peer.user
        }
        #expect(first.count { $0 == "loner" } == 10)
        #expect(Set(first).count == 81, "Each guest once.")
    }

    // MARK: Uploads

    @Test("uploads are ordered by place, then by user, and none that is waiting is left out", arguments: 0..<50)
    func uploads(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var turns = UploadTurns()
        var waiting: [(id: Int, peer: Peer)] = []
        var served: [String: Int] = [:]
        for number in 0..<300 {
            // Two places are always waiting, one of them with many users.
            while waiting.count < 40 {
                let peer =
                    Bool.random(using: &random)
                    ? Peer("account \(Int.random(in: 0..<64, using: &random))", from: "192.0.2.1")
                    : Peer("ann", from: "198.51.100.7")
                waiting.append((waiting.count + number * 100, peer))
            }
            let order = turns.order(waiting) { $0.peer }
            #expect(order.map(\.id).sorted() == waiting.map(\.id).sorted())
            let peers = Set(waiting.map(\.peer))
            turns.note([(order[0].peer, 100)], of: number, waiting: peers, underWay: [], mayGoOn: { _ in true })
            served[order[0].peer.place, default: 0] += 1
            waiting.removeAll { $0.id == order[0].id }
            #expect(turns.userCount <= 65)
        }
        let (many, one) = (served["192.0.2.1"] ?? 0, served["198.51.100.7"] ?? 0)
        #expect(many >= one, "Several users are waiting there.")
        #expect(one >= 300 / (PlaceTurns.maximumWeight + 1))
    }
}
