import Testing
import TomboloModel
import TomboloSyncProtocol

struct MatchingCostTests {
    @Test("The cost of matching counts what the conditions compare and search")
    func cost() {
        let search = Predicate.text(PropertyPath("name"), .contains, "x", ignoringCase: false)
        let list = Predicate.isIn(PropertyPath("age"), (0..<99).map { .int($0) })
        let cheap = Visibility(predicates: [1: .constant(true)])
        #expect(cheap.matchingCost(changeCount: 500, byteCount: 1 << 20) == 500)
        let searching = Visibility(predicates: [1: .or(Array(repeating: search, count: 50)), 2: .constant(true)])
        #expect(searching.matchingCost(changeCount: 1, byteCount: 1 << 20) == 51 + (50 << 20))
        let listing = Visibility(predicates: [1: list])
        #expect(listing.matchingCost(changeCount: 500, byteCount: 0) == 50_000)
        #expect(searching.matchingCost(changeCount: 1, byteCount: .max) == .max)
        #expect(Visibility.nothing.matchingCost(changeCount: 1, byteCount: 1) == 0)
    }
}
