import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// An arbiter that is told in advance what a group writes keeps less in memory, and decides the same.
@Suite struct ExpectedGroupTests {
    /// A linear congruential generator with a 64-bit multiplier from L'Ecuyer's table.
    private struct Numbers {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 3_202_034_522_624_059_733 &+ 1
            return Int((state >> 33) % UInt64(limit))
        }
    }

    private static func instruction(_ numbers: inout Numbers) -> Instruction {
        let key = Int64(numbers.below(4) + 1)
        let title = Value.string("title \(numbers.below(3))")
        switch numbers.below(9) {
        case 0: return .erase(F.item(key))
        case 1: return F.create(F.item(key), title: "new")
        case 2: return .add(F.item(key), column: F.count, amount: Int64(numbers.below(5)))
        case 3: return F.set(key, F.parent, .int(Int64(numbers.below(5))))
        case 4: return F.set(key, F.title, title, isDefault: numbers.below(2) == 0)
        case 5: return .erase(F.page(key))
        case 6: return F.create(F.page(key), title: "page")
        case 7: return F.createElement(F.element(UInt8(numbers.below(4))), owner: key, target: Int64(numbers.below(5)))
        default: return F.set(key, F.count, .int(Int64(numbers.below(9))))
        }
    }

    private static func arbiter(_ numbers: Numbers) -> Arbiter {
        var (fixture, numbers) = (ArbiterFixture(), numbers)
        for key in 1...3 as ClosedRange<Int64> where numbers.below(3) > 0 { fixture.load(key, count: key) }
        for _ in 0..<numbers.below(4) {
            fixture.log(
                Int64(numbers.below(4) + 1), numbers.below(4) == 0 ? .erase : .update,
                [F.title: .set, F.count: .add(3)],
                at: Int64(numbers.below(200)), by: numbers.below(2) == 0 ? nil : F.b)
        }
        return fixture.arbiter
    }

    @Test("a group that was announced is decided just like one that wasn't", arguments: 0..<500)
    func alike(seed: UInt64) {
        var numbers = Numbers(state: seed &* 7_919 &+ 11)
        let changesets = (0..<numbers.below(6) + 1).map { index in
            Changeset(
                number: Int64(index + 1), base: 1, stamp: Stamp(microseconds: Int64(numbers.below(200))),
                instructions: (0..<numbers.below(6) + 1).map { _ in Self.instruction(&numbers) })
        }
        var plain = Self.arbiter(numbers)
        var told = Self.arbiter(numbers)
        var (written, linked, repeated): (Set<ObjectReference>, Set<ObjectReference>, Set<ObjectReference>) = (
            [], [], []
        )
        for changeset in changesets { told.collectReferences(of: changeset, &written, &linked, &repeated) }
        told.expect(objectCount: written.count, repeated: repeated)
        let denied = Int64(numbers.below(8))
        let permit = { (request: WriteRequest) -> WriteDenial? in
            request.new?[0] == .int(denied) ? "not this one" : nil
        }
        for (index, changeset) in changesets.enumerated() {
            let client = index % 2 == 0 ? F.a : F.b
            let first = plain.apply(changeset, from: client, stamp: changeset.stamp, base: F.base, permit: permit)
            var refused = RefusedInstructions()
            told.check.refuseInvalid(in: changeset, &refused)
            let second = told.apply(
                changeset, from: client, stamp: changeset.stamp, base: F.base, permit: permit, without: refused,
                isChecked: true)
            #expect(first.writes == second.writes)
            #expect(first.positions == second.positions)
            #expect(first.lost == second.lost)
            #expect(first.refused.told == second.refused.told)
        }
    }
}
