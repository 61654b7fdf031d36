import RandomValues
import Testing

@testable import TomboloHTTP

/// Which answers are dropped when too many wait for their clients.
@Suite struct AnswerSharesTests {
    private static let start = ContinuousClock.now

    private static func time(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("An address that exceeds its share drops the answer whose client has been idle longest")
    func ofOneAddress() {
        var shares = AnswerShares<Int>(limitPerAddress: 30, limit: 100)
        for id in 1...3 { #expect(shares.add(id, 10, of: "near", at: Self.time(id)) == []) }
        shares.note(1, at: Self.time(4))
        #expect(shares.add(4, 10, of: "far", at: Self.time(5)) == [])
        #expect(shares.add(5, 20, of: "near", at: Self.time(6)) == [2, 3])
        #expect(shares.byteCount(of: "near") == 30 && shares.byteCount(of: "far") == 10)
        #expect(shares.byteCount == 40)
    }

    @Test("When all addresses together exceed the limit, the one with the most drops its slowest answer")
    func ofAll() {
        var shares = AnswerShares<Int>(limitPerAddress: 60, limit: 100)
        #expect(shares.add(1, 10, of: "honest", at: Self.time(0)) == [])
        for id in 2...4 { #expect(shares.add(id, 20, of: "greedy", at: Self.time(id)) == []) }
        #expect(shares.add(5, 30, of: "other", at: Self.time(5)) == [])
        shares.note(1, at: Self.time(5))
        #expect(shares.add(6, 10, of: "new", at: Self.time(6)) == [2])
        #expect(shares.byteCount == 90)
    }

    @Test("Answers being read stay while there are others that aren't, even if their address has the most")
    func readersStay() {
        var shares = AnswerShares<Int>(limitPerAddress: 100, limit: 100)
        for id in 1...6 { #expect(shares.add(id, 5, of: "attacker \(id)", at: Self.time(0)) == []) }
        #expect(shares.add(7, 60, of: "reader", at: Self.time(0)) == [])
        shares.note(7, at: Self.time(9))
        let givenUp = shares.add(8, 20, of: "new", at: Self.time(10))
        #expect(givenUp.count == 2 && !givenUp.contains(7), "\(givenUp)")
    }

    @Test("An answer larger than the limits is accepted if it's the only one left, and is counted once")
    func oversized() {
        var shares = AnswerShares<Int>(limitPerAddress: 10, limit: 20)
        #expect(shares.add(1, 10, of: "near", at: Self.time(0)) == [])
        #expect(shares.add(2, 50, of: "near", at: Self.time(1)) == [1])
        // Already dropped.
        shares.remove(1)
        #expect(shares.byteCount == 50)
        shares.remove(2)
        #expect(shares.byteCount == 0 && shares.byteCount(of: "near") == 0)
    }

    @Test("Unknown addresses share the overall limit")
    func unknownAddresses() {
        var shares = AnswerShares<Int>(limitPerAddress: 10, limit: 20)
        #expect(shares.add(1, 10, of: "", at: Self.time(0)) == [])
        #expect(shares.add(2, 10, of: "", at: Self.time(1)) == [])
        #expect(shares.add(3, 10, of: "", at: Self.time(2)) == [1])
    }

    @Test("Whatever comes and goes, the sums are right and the limits hold", arguments: 1...20 as ClosedRange<UInt64>)
    func randomHistories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var shares = AnswerShares<Int>(limitPerAddress: 40, limit: 100)
        var open: [Int: (address: String, byteCount: Int)] = [:]
        for id in 0..<500 {
            let now = Self.time(id)
            if let some = open.keys.sorted().randomElement(using: &random) {
                if Bool.random(using: &random) { shares.note(some, at: now) }
                if Int.random(in: 0..<4, using: &random) == 0 {
                    shares.remove(some)
                    open[some] = nil
                }
            }
            let address = "address \(Int.random(in: 0..<6, using: &random))"
            let byteCount = Int.random(in: 1...40, using: &random)
            for other in shares.add(id, byteCount, of: address, at: now) {
                #expect(open.removeValue(forKey: other) != nil)
            }
            open[id] = (address, byteCount)
            #expect(shares.byteCount == open.values.reduce(0) { $0 + $1.byteCount })
            #expect(shares.byteCount <= 100)
            let own = open.values.filter { $0.address == address }.reduce(0) { $0 + $1.byteCount }
            #expect(shares.byteCount(of: address) == own && own <= 40)
        }
        #expect(shares.maximumByteCount <= 100)
    }
}
