import Testing
import TomboloModel

@Suite struct PredicateCoveringTests {
    private static let (a, b, c) = (equal("a"), equal("b"), equal("c"))

    private static func equal(_ value: String) -> Predicate {
        .compare(PropertyPath("state"), .equal, .string(value))
    }

    private static func among(_ values: String...) -> Predicate {
        .isIn(PropertyPath("state"), values.map(Value.string))
    }

    private static let published = Predicate.compare(PropertyPath("isPublic"), .equal, .bool(true))

    @Test(
        "a condition covers those that hold for the same rows or fewer",
        arguments: [
            (.constant(true), a), (a, .constant(false)), (a, a), (.or([a, b]), a), (.or([a, b, c]), .or([c, a])),
            (a, .and([a, published])), (.or([b, a]), .and([published, a])),
            (.and([a, published]), .and([published, a])),
            (among("a", "b"), a), (among("a", "b"), among("b", "a")), (among("a", "b", "c"), among("c", "a")),
            (a, among("a")), (.or([published, among("a", "b")]), .or([a, published])), (.not(a), .not(.or([a, b]))),
            (.or([.and([a, published]), b]), .and([published, a])),
        ] as [(Predicate, Predicate)])
    func covers(wide: Predicate, narrow: Predicate) {
        #expect(wide.covers(narrow))
    }

    @Test(
        "a condition doesn't cover others, as far as can be determined",
        arguments: [
            (.constant(false), a), (a, .constant(true)), (a, b), (a, .or([a, b])), (.and([a, published]), a),
            (among("a"), among("a", "b")), (a, among("a", "b")), (among("a", "b"), c),
            (.compare(PropertyPath("other"), .equal, .string("a")), a), (.not(.or([a, b])), .not(a)),
            (.isIn(PropertyPath("other"), [.string("a")]), a), (published, .and([a, b])),
        ] as [(Predicate, Predicate)])
    func doesNotCover(narrow: Predicate, wide: Predicate) {
        #expect(!narrow.covers(wide))
    }
}
