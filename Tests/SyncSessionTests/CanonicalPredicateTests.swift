import RandomValues
import Testing
import TomboloModel
import TomboloSyncSession

@Suite struct CanonicalPredicateTests {
    @Test(
        "A predicate's canonical form matches the same rows, and is the same however the condition is written",
        arguments: [true, false])
    func randomPredicates(hasNaN: Bool) {
        var random = RandomPredicates(.printed(for: "canonical predicates"), hasNaN: hasNaN)
        for _ in 0..<1_000 {
            let predicate = random.predicate()
            let canonical = predicate.canonical
            for _ in 0..<5 {
                let row = random.row()
                let isMatch = predicate.matches(row, of: RandomPredicates.item)
                #expect(
                    isMatch == canonical.matches(row, of: RandomPredicates.item), "\(predicate) and \(canonical)")
                #expect(isMatch == RowPredicate(predicate, of: RandomPredicates.item).matches(row), "\(predicate)")
            }
            guard !hasNaN else { continue }
            #expect(canonical.canonical == canonical)
            let other = random.rewritten(predicate)
            #expect(other.canonical == canonical, "\(predicate) and \(other)")
            #expect(other.canonical.hashValue == canonical.hashValue)
        }
    }

    @Test("Flattens, sorts, and removes repeats and constants")
    func forms() {
        func compare(_ name: String, _ comparison: Predicate.Comparison, _ value: Int64) -> Predicate {
            .compare(PropertyPath(name), comparison, .int(value))
        }
        let (a, b) = (compare("a", .equal, 1), compare("b", .equal, 2))
        let search = Predicate.text(PropertyPath("c"), .contains, "x", ignoringCase: false)
        #expect(Predicate.and([search, .and([b, .constant(true)]), a, b]).canonical == .and([a, b, search]))
        #expect(Predicate.or([.or([b, .and([])]), a]).canonical == .constant(true))
        #expect(Predicate.and([.or([b, a]), .or([a, b, a])]).canonical == .or([a, b]))
        #expect(Predicate.not(.not(.not(a))).canonical == compare("a", .notEqual, 1))
        #expect(Predicate.not(.or([.or([]), .not(search)])).canonical == search)
        #expect(Predicate.isIn(PropertyPath("a"), [.int(1), .int(1)]).canonical == a)
        #expect(Predicate.isIn(PropertyPath("a"), []).canonical == .constant(false))
        // Texts are compared by their bytes, so these are different conditions.
        let composed = Predicate.compare(PropertyPath("c"), .equal, .string("é"))
        let decomposed = Predicate.compare(PropertyPath("c"), .equal, .string("e\u{301}"))
        #expect(Predicate.or([composed, decomposed]).canonical == Predicate.or([decomposed, composed]).canonical)
        #expect(Predicate.or([composed, decomposed]).canonical != composed)
    }
}
