import Foundation
import RandomValues
import Testing
import TomboloModel
import TomboloSyncSession

@Suite struct PredicateIndexTests {
    private typealias Comparison = Predicate.Comparison

    private static let item = ClassSchema(
        name: "Item",
        columns: [
            Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
            Column(name: "owner", type: .string, isOptional: true),
            Column(name: "price", type: .decimal128, isOptional: true),
            Column(name: "size", type: .double),
            Column(name: "home.street", type: .string, isOptional: true),
            Column(name: "day", type: .date),
            Column(name: "isDone", type: .bool),
        ])

    private static func row(
        _ id: Int64 = 0, owner: Value = .null, price: Value = .null, size: Double = 0, street: Value = .null,
        day: Int64 = 0, isDone: Bool = false
    ) -> Row {
        Row([.int(id), owner, price, .double(size), street, .date(day), .bool(isDone)])
    }

    private static func compare(_ name: String, _ comparison: Comparison, _ value: Value) -> Predicate {
        .compare(PropertyPath(name), comparison, value)
    }

    private static func owner(_ name: String) -> Predicate { compare("owner", .equal, .string(name)) }

    private static func days(_ days: Range<Int64>) -> Predicate {
        .and([
            compare("day", .greaterOrEqual, .date(days.lowerBound)), compare("day", .less, .date(days.upperBound)),
        ])
    }

    private static func index(_ predicates: [Predicate]) -> PredicateIndex {
        var index = PredicateIndex(of: item)
        for (id, predicate) in predicates.enumerated() { index.insert(predicate, id: id) }
        return index
    }

    private static func matches(_ index: PredicateIndex, _ row: Row) -> [Int] {
        var result: [Int] = []
        index.forEachMatch(of: row) { result.append($0) }
        return result.sorted()
    }

    private static func candidates(_ index: PredicateIndex, _ row: Row) -> [Int] {
        index.candidateIDs(for: row).sorted()
    }

    // MARK: - Compared with evaluating every predicate

    @Test("Finds the same as evaluating every predicate, while predicates come and go")
    func agreesWithEvaluation() {
        var random = RandomPredicates(.printed(for: "predicate index"))
        var index = PredicateIndex(of: RandomPredicates.item)
        var all: [Int: Predicate] = [:]
        for step in 0..<2_000 {
            // The index grows at first, and is nearly empty from time to time.
            let isShrinking = step % 500 > 350
            if let id = all.keys.sorted().randomElement(using: &random.random.generator),
                random.random.int(0...9) < (isShrinking ? 8 : 3)
            {
                index.remove(id: id)
                all[id] = nil
            } else {
                let predicate = random.predicate()
                index.insert(predicate, id: step)
                all[step] = predicate
            }
            #expect(index.isEmpty == all.isEmpty)
            let row = random.row()
            let expected = all.filter { $0.value.matches(row, of: RandomPredicates.item) }.keys.sorted()
            guard Self.matches(index, row) == expected else {
                let wrong = Set(Self.matches(index, row)).symmetricDifference(expected).sorted()
                Issue.record("Step \(step), row \(row): \(wrong.map { "\($0): \(all[$0] ?? .constant(false))" })")
                return
            }
        }
        for id in all.keys { index.remove(id: id) }
        #expect(index.isEmpty)
        #expect(index.unindexed.isEmpty)
        #expect(Self.candidates(index, random.row()) == [])
    }

    @Test("A copy is independent of the original")
    func copies() {
        var index = Self.index([Self.owner("ann"), Self.days(0..<9)])
        let copy = index
        index.remove(id: 0)
        index.remove(id: 1)
        index.insert(.constant(true), id: 2)
        #expect(Self.matches(copy, Self.row(owner: .string("ann"), day: 3)) == [0, 1])
        #expect(Self.matches(index, Self.row(owner: .string("ann"), day: 3)) == [2])
    }

    @Test("A second predicate with an id replaces the first")
    func replacement() {
        var index = Self.index([Self.owner("ann")])
        index.insert(Self.owner("bob"), id: 0)
        #expect(Self.matches(index, Self.row(owner: .string("ann"))) == [])
        #expect(Self.matches(index, Self.row(owner: .string("bob"))) == [0])
        index.remove(id: 0)
        index.remove(id: 0)
        #expect(index.isEmpty)
    }

    // MARK: - Candidates

    @Test("Of 10,000 predicates on an owner, a row evaluates one")
    func owners() {
        let index = Self.index((0..<10_000).map { Self.owner("user \($0)") })
        #expect(Self.candidates(index, Self.row(owner: .string("user 1234"))) == [1_234])
        #expect(Self.candidates(index, Self.row(owner: .string("user"))) == [])
        #expect(index.unindexed.isEmpty)
    }

    @Test("Of 10,000 ranges, a row evaluates only those it lies in, even after many were replaced")
    func ranges() {
        var index = Self.index((0..<10_000).map { Self.days($0 * 10..<($0 + 2) * 10) })
        for id in stride(from: 0, to: 10_000, by: 3) {
            index.remove(id: id)
            index.insert(Self.days(Int64(id) * 10..<Int64(id + 2) * 10), id: id)
        }
        for day in [0, 9, 10, 5_000, 99_999, 100_009, 100_010, -1] as [Int64] {
            let expected = [Int(day) / 10 - 1, Int(day) / 10].filter { (0..<10_000).contains($0) && day >= 0 }
            #expect(Self.candidates(index, Self.row(day: day)) == expected)
        }
    }

    @Test("A conjunction is entered under its most selective part")
    func conjunctions() {
        let owner = Self.owner("ann")
        let wide = Self.compare("day", .greater, .date(0))
        let done = Self.compare("isDone", .equal, .bool(true))
        let search = Predicate.text(PropertyPath("home.street"), .contains, "x", ignoringCase: false)
        let index = Self.index([
            .and([search, wide, Self.days(0..<5), owner]),
            .and([wide, done, .and([.not(.or([.not(owner), search]))])]),
            .and([done, Self.days(0..<5)]),
            .and([done, wide]),
            .and([search, done]),
            .and([owner, .isIn(PropertyPath("_id"), [.int(1), .int(2)])]),
            .and([Self.compare("day", .less, .date(3)), owner, Self.compare("day", .greater, .date(7))]),
        ])
        #expect(Self.candidates(index, Self.row(owner: .string("ann"))) == [0, 1, 2, 5])
        #expect(Self.candidates(index, Self.row(day: 4)) == [2, 3])
        #expect(Self.candidates(index, Self.row(isDone: true)) == [2, 4])
        #expect(Self.candidates(index, Self.row(1, day: 9)) == [3])
        #expect(index.unindexed.isEmpty)
    }

    @Test("A disjunction is entered under all of its parts and found once")
    func disjunctions() {
        let index = Self.index([
            .or([Self.owner("ann"), Self.days(0..<5), Self.days(3..<9), Self.owner("ann")]),
            .isIn(PropertyPath("owner"), [.string("ann"), .null, .string("ann")]),
            .or([Self.owner("ann"), .not(Self.owner("bob"))]),
        ])
        #expect(Self.matches(index, Self.row(owner: .string("ann"), day: 4)) == [0, 1, 2])
        #expect(Self.matches(index, Self.row(owner: .null, day: 4)) == [0, 1, 2])
        #expect(Self.candidates(index, Self.row(owner: .string("bob"), day: 9)) == [2])
        #expect(index.unindexed.map(\.id) == [2])
    }

    @Test("Predicates that can't be indexed are listed with their cost")
    func unindexed() {
        let search = Predicate.text(PropertyPath("owner"), .contains, "x", ignoringCase: false)
        var index = Self.index([
            search, .or([search, Self.owner("ann"), search]), .constant(true), .constant(false), Self.owner("ann"),
            .isIn(PropertyPath("_id"), (0..<10_000).map { .int($0) }), Self.compare("owner", .notEqual, .null),
            .text(PropertyPath("owner"), .beginsWith, "a", ignoringCase: true),
        ])
        func listed() -> [[Int]] {
            index.unindexed.map { [$0.id, $0.partCount, $0.searchCount] }.sorted { $0[0] < $1[0] }
        }
        #expect(listed() == [[0, 1, 1], [1, 4, 2], [2, 1, 0], [5, 10_001, 0], [6, 1, 0], [7, 1, 0]])
        index.remove(id: 1)
        index.remove(id: 7)
        index.remove(id: 0)
        #expect(listed() == [[2, 1, 0], [5, 10_001, 0], [6, 1, 0]])
        #expect(Self.matches(index, Self.row(77)) == [2, 5])
    }

    // MARK: - Edge cases of equality and order

    @Test("Equal values are found however they are written, and others are not")
    func equality() {
        let index = Self.index([
            Self.compare("price", .equal, .decimal("1.0")),
            Self.compare("size", .equal, .double(-0.0)),
            Self.compare("size", .equal, .double(.nan)),
            Self.owner("é"), Self.owner("e\u{301}"),
            Self.compare("owner", .equal, .null),
            .compare(PropertyPath(["home", "street"]), .equal, .string("Elm")),
            .isIn(PropertyPath("size"), [.double(.nan), .double(7)]),
            Self.compare("price", .equal, .decimal(.nan)),
        ])
        #expect(index.unindexed.isEmpty)
        #expect(Self.matches(index, Self.row(owner: .string("é"), price: .decimal("1.00"))) == [0, 1, 3])
        #expect(Self.matches(index, Self.row(owner: .string("e\u{301}"), price: .decimal(1), size: -0.0)) == [0, 1, 4])
        #expect(Self.matches(index, Self.row(size: .nan)) == [5])
        #expect(Self.matches(index, Self.row(owner: .string(""), size: 7, street: .string("Elm"))) == [6, 7])
        #expect(Self.matches(index, Self.row(owner: .string(""), price: .decimal(.nan), size: 1)) == [8])
        var emptied = index
        for id in 0..<9 { emptied.remove(id: id) }
        #expect(emptied.isEmpty)
        #expect(Self.candidates(emptied, Self.row()) == [])
    }

    @Test("Bounds include what the comparison includes, and nil lies in no range")
    func bounds() {
        let index = Self.index(
            [.less, .lessOrEqual, .greater, .greaterOrEqual].flatMap { comparison in
                [Self.compare("size", comparison, .double(0)), Self.compare("price", comparison, .decimal(5))]
            } + [Self.compare("size", .greater, .double(.nan)), Self.compare("size", .less, .double(.nan))])
        #expect(Self.matches(index, Self.row(size: -0.0)) == [2, 6, 8])
        #expect(Self.matches(index, Self.row(price: .decimal("5.0"), size: -1)) == [0, 2, 3, 7, 8])
        #expect(Self.matches(index, Self.row(price: .decimal("5.1"), size: .nan)) == [4, 5, 6, 7, 8])
        #expect(index.unindexed.map(\.id) == [8])
    }

    @Test(
        "Texts that begin with a prefix form a range of bytes",
        arguments: ["a", "é", "e\u{301}", "\u{d7ff}", "\u{7f}", "a\u{10ffff}", "\u{10ffff}", "\u{10ffff}\u{10ffff}"])
    func prefixes(prefix: String) {
        let index = Self.index([.text(PropertyPath("owner"), .beginsWith, prefix, ignoringCase: false)])
        #expect(index.unindexed.isEmpty)
        for rest in ["", "\u{1}", "a", "\u{301}", "\u{10ffff}\u{10ffff}"] {
            #expect(Self.matches(index, Self.row(owner: .string(prefix + rest))) == [0])
        }
        #expect(Self.candidates(index, Self.row(owner: .string(String(prefix.unicodeScalars.dropLast())))) == [])
        #expect(Self.candidates(index, Self.row()) == [])
        #expect(Self.candidates(index, Self.row(owner: .string("0" + prefix))) == [])
    }

    @Test("A column that the class doesn't have reads as nil, and a former name stands for its column")
    func resolution() {
        let gone = PropertyPath("gone")
        var index = PredicateIndex(of: RandomPredicates.item)
        index.insert(.compare(gone, .equal, .null), id: 0)
        index.insert(.compare(gone, .equal, .int(1)), id: 1)
        index.insert(.compare(gone, .less, .int(1)), id: 2)
        index.insert(.compare(gone, .notEqual, .int(1)), id: 3)
        index.insert(.compare(PropertyPath("place"), .equal, .string("hall")), id: 4)
        var row = Row(Array(repeating: .null, count: RandomPredicates.item.columns.count))
        row.values[row.values.count - 1] = .string("hall")
        #expect(Self.matches(index, row) == [0, 3, 4])
        #expect(index.unindexed.map(\.id) == [0, 3])
    }
}
