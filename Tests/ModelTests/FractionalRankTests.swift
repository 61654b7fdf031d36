import RandomValues
import Testing
import TomboloModel

@Suite("Fractional ranks")
struct FractionalRankTests {
    @Test(
        "Known neighbours give known keys",
        arguments: [
            (nil, nil, "a0"), ("a0", nil, "a1"), ("az", nil, "b00"), ("bzz", nil, "c000"), (nil, "a0", "Zz"),
            (nil, "Z0", "Yzz"), ("a0", "a1", "a0V"), ("a0V", "a1", "a0k"), ("a0", "a0V", "a0F"), ("a1V", nil, "a2"),
            (nil, "a1V", "a1"), ("Zz", "a0", "ZzV"), ("az", "b00", "azV"),
        ] as [(String?, String?, String)])
    func knownKeys(lower: String?, upper: String?, expected: String) throws {
        #expect(try FractionalRank.between(lower, upper) == expected)
    }

    @Test("A key lies strictly between its neighbours, wherever elements are inserted")
    func betweenNeighbours() throws {
        var generator = SeededGenerator(seed: 20)
        for round in 0..<20 {
            var ranks: [String] = []
            for _ in 0..<500 {
                // Most insertions are at either end or in the middle, as people's are.
                let position: Int =
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: 0
                    case 1: ranks.count
                    case 2: ranks.count / 2
                    default: Int.random(in: 0...ranks.count, using: &generator)
                    }
                let lower = position > 0 ? ranks[position - 1] : nil
                let upper = position < ranks.count ? ranks[position] : nil
                let rank = try FractionalRank.between(lower, upper)
                if let lower { #expect(precedes(lower, rank), "round \(round): \(lower) < \(rank)") }
                if let upper { #expect(precedes(rank, upper), "round \(round): \(rank) < \(upper)") }
                ranks.insert(rank, at: position)
            }
        }
    }

    @Test("Ten thousand appended or prepended elements have short keys")
    func shortKeys() throws {
        let appended = try FractionalRank.sequence(count: 10_000, between: nil, nil)
        #expect(appended.count == 10_000)
        #expect(zip(appended, appended.dropFirst()).allSatisfy(precedes))
        #expect(appended.map(\.utf8.count).max() == 4)
        let prepended = try FractionalRank.sequence(count: 10_000, between: nil, "a0")
        #expect(zip(prepended, prepended.dropFirst() + ["a0"]).allSatisfy(precedes))
        #expect(prepended.map(\.utf8.count).max() == 4)
        let between = try FractionalRank.sequence(count: 1_000, between: "a0", "a1")
        #expect(zip(["a0"] + between, between + ["a1"]).allSatisfy(precedes))
        #expect((between.map(\.utf8.count).max() ?? 0) <= 4)
    }

    @Test("Keys made by other programs are accepted as long as there's room between them")
    func foreignKeys() throws {
        #expect(try FractionalRank.between("5", nil) == "X")
        #expect(try FractionalRank.between("5", "6") == "5V")
        #expect(try FractionalRank.between("1", "10V") == "10F")
        #expect(try precedes("zzz", FractionalRank.between("zzz", nil)))
        #expect(try precedes(FractionalRank.between(nil, "01"), "01"))
    }

    @Test(
        "No room, a wrong order and invalid characters are errors",
        arguments: [
            ("a1", "a1"), ("a1", "a0"), ("1", "10"), ("a-0", nil), (nil, ""), (nil, "000"),
        ] as [(String?, String?)])
    func refused(lower: String?, upper: String?) {
        #expect(throws: ValueError.self) { try FractionalRank.between(lower, upper) }
    }

    private func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
