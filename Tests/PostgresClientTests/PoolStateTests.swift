import Testing

@testable import PostgresClient

/// Who gets a pool's connections, tested without a database: see docs/adr/0063.
@Suite struct PoolStateTests {
    private final class Connection: Sendable {}

    private typealias State = PostgresPoolState<Connection, Int>

    /// A pool and the connections that its borrowers hold.
    private struct Model {
        var state: State
        var held: [(request: Int, borrower: PostgresBorrower?, connection: Connection)] = []
        var waiting: [(request: Int, id: UInt64, borrower: PostgresBorrower?)] = []
        /// The requests that got a connection, in order.
        var served: [Int] = []
        private var now = ContinuousClock.now
        private var count = 0

        init(_ maximumConnections: Int, maximumWaiters: Int = 1_000) {
            state = State(maximumConnections: maximumConnections, maximumWaiters: maximumWaiters)
        }

        var free: Int { state.maximumConnections - held.count }

        /// - Returns: the request's number, and whether it got a connection at once.
        @discardableResult
        mutating func ask(_ borrower: PostgresBorrower?) -> (number: Int, isServed: Bool) {
            count += 1
            now += .seconds(1)
            let id = state.makeWaiterID()
            switch state.request(id: id, for: borrower, deadline: now, count) {
            case .granted(let grant): take(count, borrower, grant)
            case .queued: waiting.append((count, id, borrower))
            case .refused, .cancelled: break
            }
            return (count, served.last == count)
        }

        private mutating func take(
            _ request: Int, _ borrower: PostgresBorrower?, _ grant: PostgresGrant<Connection>
        ) {
            served.append(request)
            switch grant {
            case .connection(let connection): held.append((request, borrower, connection))
            case .slot:
                let connection = Connection()
                let isLent = state.lend(connection)
                #expect(isLent)
                held.append((request, borrower, connection))
            }
        }

        /// - Parameter isLost: whether the connection broke.
        mutating func giveBack(_ index: Int, isLost: Bool = false) {
            let (_, borrower, connection) = held.remove(at: index)
            var granted: [State.Granted] = []
            if isLost {
                state.forget(connection)
                granted = state.freeSlot(of: borrower).granted
            } else if case .kept(let kept) = state.giveBack(connection, from: borrower) {
                granted = kept
            }
            for one in granted { serve(one) }
        }

        private mutating func serve(_ granted: State.Granted) {
            guard let index = waiting.firstIndex(where: { $0.request == granted.request }) else {
                Issue.record("\(granted.request) got a connection and didn't wait for one")
                return
            }
            let borrower = waiting.remove(at: index).borrower
            take(granted.request, borrower, granted.grant)
        }

        mutating func cancel(_ index: Int) {
            let (request, id, _) = waiting.remove(at: index)
            let (removed, again) = (state.removeWaiter(id), state.removeWaiter(id))
            #expect(removed == request && again == nil)
        }

        /// Lets the oldest waiting request time out.
        mutating func expireOldest() {
            guard let deadline = state.nextDeadline() else { return #expect(waiting.isEmpty) }
            let expired = state.expire(now: deadline)
            #expect(expired == [waiting[0].request])
            waiting.removeFirst()
        }

        func count(user: String) -> Int { held.count { $0.borrower?.holder == user } }
        func count(place: String) -> Int { held.count { $0.borrower?.place == place } }

        /// Whether a borrower may have a connection now, by the rule as it is written down.
        func mayHave(_ borrower: PostgresBorrower?) -> Bool {
            guard free > 0, let borrower else { return free > 0 }
            // Compare what the borrower would hold beyond its first connection with what would be left.
            return count(user: borrower.holder) <= free - 1 && count(place: borrower.place) <= 3 * (free - 1)
        }
    }

    private static func user(_ name: String, at address: String) -> PostgresBorrower {
        PostgresBorrower(user: name, address: address)
    }

    @Test("A user alone holds half of the connections, rounded up, and the users of one address three quarters")
    func alone() {
        for size in 1...64 {
            var model = Model(size)
            for _ in 0..<2 * size { model.ask(Self.user("ada", at: "1")) }
            #expect(model.held.count == (size + 1) / 2)
            for number in 0..<2 * size { model.ask(Self.user("\(number)", at: "1")) }
            #expect(model.held.count == max((3 * size + 1) / 4, (size + 1) / 2), "of \(size)")
            // One connection is left for others, unless there is only one.
            let isServed = model.ask(Self.user("eve", at: "2")).isServed
            #expect(isServed == (size > 1))
        }
    }

    @Test("Two users at two addresses leave two of eight connections, and any number of users at two addresses one")
    func two() {
        var model = Model(8)
        for name in ["1", "2"] { for _ in 0..<20 { model.ask(Self.user("user \(name)", at: name)) } }
        #expect(model.held.count == 6)
        for number in 0..<20 { model.ask(Self.user("another \(number)", at: "\(1 + number % 2)")) }
        #expect(model.held.count == 7)
        // A user who holds some doesn't get the last one, whatever address they ask from.
        let isAnotherServed = model.ask(Self.user("user 1", at: "3")).isServed
        let isNewcomerServed = model.ask(Self.user("somebody", at: "3")).isServed
        #expect(!isAnotherServed && isNewcomerServed)
    }

    @Test("The server's own work takes whatever is free, and users share what it leaves")
    func ownWork() {
        var model = Model(8)
        for _ in 0..<3 { model.ask(nil) }
        for _ in 0..<8 { model.ask(Self.user("ada", at: "1")) }
        #expect(model.count(user: "ada") == 3)
        for _ in 0..<3 { model.ask(nil) }
        #expect(model.held.count == 8 && model.waiting.count == 6)
    }

    @Test("In random histories all get what they may have, and a few users or addresses leave some", arguments: 0..<200)
    func histories(seed: UInt64) {
        var random = SplitMix(state: seed)
        let size = Int.random(in: 1...12, using: &random)
        var model = Model(size)
        let (userCount, placeCount) = (Int.random(in: 1...6, using: &random), Int.random(in: 1...4, using: &random))
        let usesServer = Bool.random(using: &random)
        for step in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let number = Int.random(in: 0...userCount, using: &random)
                let address = "\(Int.random(in: 0..<placeCount, using: &random))"
                // Some borrowers aren't logged in, and some have no address.
                let borrower = PostgresBorrower(
                    user: number == 0 ? nil : "user \(number)",
                    address: number == 1 ? nil : address)
                let isServers = usesServer && Int.random(in: 0..<8, using: &random) == 0
                let mayHave = model.mayHave(isServers ? nil : borrower)
                let isServed = model.ask(isServers ? nil : borrower).isServed
                #expect(isServed == mayHave, "seed \(seed), step \(step)")
            case 5..<8 where !model.held.isEmpty:
                model.giveBack(
                    Int.random(in: model.held.indices, using: &random), isLost: Bool.random(using: &random))
            case 8 where !model.waiting.isEmpty: model.cancel(Int.random(in: model.waiting.indices, using: &random))
            case 9 where Int.random(in: 0..<4, using: &random) == 0: model.expireOldest()
            default: break
            }
            check(model, "seed \(seed), step \(step)")
        }
        // Everybody who is waiting gets a connection in the end.
        while !model.held.isEmpty { model.giveBack(Int.random(in: model.held.indices, using: &random)) }
        #expect(model.waiting.isEmpty)
        #expect(model.state.statistics.inUse == 0 && model.state.statistics.waiting == 0)
    }

    private func check(_ model: Model, _ comment: Comment) {
        let statistics = model.state.statistics
        #expect(statistics.inUse == model.held.count && statistics.waiting == model.waiting.count, comment)
        #expect(model.free >= 0, comment)
        #expect(!model.waiting.contains { model.mayHave($0.borrower) }, comment)
        let borrowers = model.held.compactMap(\.borrower)
        let (users, places) = (Set(borrowers.map(\.holder)).count, Set(borrowers.map(\.place)).count)
        // What is left for others, and for the server, which has no limit.
        let left = model.free + model.held.count - borrowers.count
        let size = model.state.maximumConnections
        #expect((left + 1) << users >= size + 1, comment)
        #expect((3 * left + 1) << (2 * places) >= 3 * size + 1, comment)
    }

    @Test("Places take turns, then the users of a place, and a user's requests are served in order")
    func turns() {
        var model = Model(1)
        model.ask(nil)
        var names: [Int: String] = [:]
        for (name, address) in [("a", "1"), ("a", "1"), ("a", "1"), ("b", "1"), ("c", "2"), ("c", "2"), ("d", "3")] {
            names[model.ask(Self.user(name, at: address)).number] = name
        }
        model.served = []
        while !model.held.isEmpty { model.giveBack(0) }
        #expect(model.served.map { names[$0] } == ["a", "c", "d", "b", "c", "a", "a"])
        #expect(model.served.filter { names[$0] == "a" } == model.served.filter { names[$0] == "a" }.sorted())
    }

    @Test("However many requests are waiting, a newcomer waits for one turn of each other address and of the server")
    func newcomers() {
        var model = Model(4)
        for number in 0..<200 { model.ask(Self.user("user \(number % 40)", at: "\(number % 5)")) }
        for _ in 0..<40 { model.ask(nil) }
        let newcomer = model.ask(Self.user("somebody", at: "elsewhere"))
        #expect(!newcomer.isServed)
        model.served = []
        while !model.served.contains(newcomer.number) { model.giveBack(0) }
        #expect(model.served.count <= 7)
    }

    @Test("No user takes more than half of the waiting list")
    func placesToWait() {
        var model = Model(1, maximumWaiters: 10)
        model.ask(nil)
        for number in 0..<20 { model.ask(Self.user("ada", at: "\(number)")) }
        #expect(model.waiting.count == 5)
        for number in 0..<20 { model.ask(Self.user("user \(number)", at: "1")) }
        #expect(model.waiting.count == 10)
        // A request that leaves makes room for another.
        model.cancel(0)
        model.ask(Self.user("ada", at: "1"))
        #expect(model.waiting.count == 10)
    }
}

/// A generator with a seed, so that failures can be reproduced.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
