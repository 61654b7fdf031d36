import RandomValues
import Testing

@testable import Tombolo
@testable import TomboloSQLiteStore

@Suite("Differences of collections")
struct CollectionDifferenceTests {
    private func apply(_ difference: CollectionDifference, to old: [Int64], _ new: [Int64]) -> [Int64] {
        var result = old
        for position in difference.deletions.reversed() { result.remove(at: position) }
        for position in difference.insertions { result.insert(new[position], at: position) }
        return result
    }

    private func random(_ random: inout RandomValues, _ count: Int) -> [Int64] {
        Array(Set((0..<count).map { _ in Int64(random.int(1...60)) })).shuffled(using: &random.generator)
    }

    @Test("Deletions and insertions turn any collection into any other; the rest stays in order")
    func whole() {
        var values = RandomValues(.printed(for: "collection differences"))
        for _ in 0..<2_000 {
            let old = random(&values, values.int(0...40))
            var new = old
            if values.flag() {
                new = random(&values, values.int(0...40))
            } else {
                for _ in 0..<values.int(0...5) where !new.isEmpty {
                    let moved = new.remove(at: values.int(0...new.count - 1))
                    if values.flag() { new.insert(moved, at: values.int(0...new.count)) }
                }
            }
            let others = Set(old.filter { _ in values.flag(8) })
            let modified = Set(old.filter { _ in values.flag(3) })
            let difference = CollectionDifference(
                from: old, to: new, isOther: others.contains, isModified: modified.contains)
            guard apply(difference, to: old, new) == new else {
                Issue.record("\(old) → \(new): \(difference)")
                return
            }
            let deleted = Set(difference.deletions)
            #expect(difference.deletions == deleted.sorted())
            #expect(difference.insertions == Set(difference.insertions).sorted())
            for position in old.indices where others.contains(old[position]) { #expect(deleted.contains(position)) }
            #expect(
                difference.modifications
                    == old.indices.filter { modified.contains(old[$0]) && !deleted.contains($0) })
        }
    }

    @Test("Swapping two elements moves one, and moving one far moves only it")
    func fewest() {
        func difference(_ old: [Int64], _ new: [Int64]) -> CollectionDifference {
            CollectionDifference(from: old, to: new) { _ in
                false
            } isModified: { _ in
                false
            }
        }
        #expect(difference([1, 2, 3, 4], [1, 3, 2, 4]).deletions.count == 1)
        let far = difference([1, 2, 3, 4, 5], [2, 3, 4, 5, 1])
        #expect(far == CollectionDifference(deletions: [0], insertions: [4]))
        #expect(difference([], [7]) == CollectionDifference(insertions: [0]))
        #expect(difference([7], []) == CollectionDifference(deletions: [0]))
    }

    @Test("A patch gives the same collection as sorting again, and reports exactly where it differs")
    func patch() {
        var values = RandomValues(.printed(for: "collection patches"))
        for _ in 0..<2_000 {
            // Rows are sorted by a key; rows with equal keys, by row.
            var keys: [Int64: Int] = [:]
            for row in random(&values, values.int(0...40)) { keys[row] = values.int(0...15) }
            func sorted() -> [Int64] { keys.keys.sorted { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) } }
            let old = sorted()
            var rows = old
            var touched: Set<Int64> = []
            var others: Set<Int64> = []
            for _ in 0..<values.int(0...6) {
                let row = Int64(values.int(1...60))
                touched.insert(row)
                if values.flag(3) {
                    keys[row] = nil
                } else {
                    if old.contains(row), values.flag(4) { others.insert(row) }
                    keys[row] = values.flag(4) ? keys[row] ?? 3 : values.int(0...15)
                }
            }
            let new = sorted()
            let patch = CollectionPatch(
                touched: RowIDSet(touched), matches: new.filter(touched.contains), others: RowIDSet(others))
            let difference = patch.apply(to: &rows) { (keys[$0] ?? 0, $0) < (keys[$1] ?? 0, $1) }
            guard rows == new, apply(difference, to: old, new) == new else {
                Issue.record("\(old) → \(new), got \(rows): \(difference)")
                return
            }
            // No unnecessary moves.
            let least = CollectionDifference(from: old, to: new, isOther: others.contains, isModified: { _ in false })
            #expect(difference.deletions.count <= least.deletions.count + touched.count)
            #expect(Set(difference.deletions.map { old[$0] }).isSubset(of: touched))
        }
    }

    @Test("A filter recognises its rows in any arrangement")
    func filter() {
        var values = RandomValues(.printed(for: "row filters"))
        let sets: [RowIDSet] = [
            [], [5], [1, 2, 3], RowIDSet(1...100), RowIDSet((0..<50).map { _ in values.number() }),
            [.min, 0, 1, 2, .max],
            RowIDSet((0..<500).map { _ in Int64(values.int(0...100_000)) }),
        ]
        for rows in sets {
            let filter = RowFilter(rows)
            #expect(filter.isEmpty == rows.isEmpty)
            for row in rows { #expect(filter.contains(row)) }
            for row in (-10...200 as ClosedRange<Int64>) + [.min, .max, 99_999] {
                #expect(filter.contains(row) == rows.contains(row))
            }
        }
    }
}
