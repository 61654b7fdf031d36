import RandomValues
import Testing
import TomboloModel

@testable import TomboloSQLiteStore

@Suite("Change sets")
struct ChangeSetTests {
    private let shape: ChangeShape

    init() throws { shape = ChangeShape(try Self.schema()) }

    private static func schema(second: [String] = ["_id", "name"]) throws -> Schema {
        func item(_ name: String, _ columns: [String]) -> ClassSchema {
            ClassSchema(
                name: name, table: name.lowercased(),
                columns: columns.enumerated().map { Column(name: $1, type: .int(bits: 64), isPrimaryKey: $0 == 0) })
        }
        return try Schema([item("Alpha", ["_id", "price"]), item("Beta", second)])
    }

    private func changes(
        inserted: RowIDSet = [], deleted: RowIDSet = [], modified: ModifiedRows = [:]
    ) -> ClassChanges {
        var result = ClassChanges()
        result.inserted = inserted
        result.deleted = deleted
        result.modified = modified
        return result
    }

    private func merged(_ first: ClassChanges, _ second: ClassChanges) -> ClassChanges {
        var result = first
        result.merge(second)
        return result
    }

    @Test("Successive changes merge into their net effect")
    func algebra() {
        let insert = changes(inserted: [7])
        let delete = changes(deleted: [7])
        let modify = changes(modified: [7: [1]])
        #expect(merged(insert, delete).isEmpty)
        #expect(merged(delete, insert) == changes(inserted: [7], deleted: [7]))
        #expect(merged(insert, modify) == insert)
        #expect(merged(modify, delete) == delete)
        #expect(merged(modify, changes(modified: [7: [0, 70]])) == changes(modified: [7: [0, 1, 70]]))
        #expect(merged(merged(delete, insert), delete) == delete)
        #expect(merged(merged(delete, insert), modify) == changes(inserted: [7], deleted: [7]))
        #expect(merged(insert, changes(inserted: [7], deleted: [7])) == insert)
        #expect(merged(.everything, insert) == .everything)
        #expect(merged(insert, .everything) == .everything)
    }

    /// A table of rows, each of which knows whether it was there at the start and which columns have been written since.
    private struct Table {
        var rows: [Int64: (isOld: Bool, columns: ColumnSet)] = [:]
        var gone: Set<Int64> = []

        init(_ rowIDs: some Sequence<Int64>) { for rowID in rowIDs { rows[rowID] = (true, []) } }

        var changes: ClassChanges {
            var result = ClassChanges()
            result.inserted = RowIDSet(rows.filter { !$0.value.isOld }.map(\.key))
            result.deleted = RowIDSet(gone)
            result.modified = ModifiedRows(
                rows.filter { $0.value.isOld && !$0.value.columns.isEmpty }.mapValues(\.columns))
            return result
        }
    }

    @Test("Recording and merging random steps agrees with a table", arguments: 0..<20)
    func random(round: Int) {
        var random = RandomValues(.printed(for: "change sets \(round)"))
        var whole = Table(1...20)
        var recorder = RowRecords()
        var sum = ClassChanges()
        for _ in 0..<10 {
            var part = RowRecords()
            for _ in 0..<random.int(0...12) {
                let rowID = Int64(random.int(1...30))
                let column = random.pick([0, 3, 64, 200])
                if whole.rows[rowID] == nil {
                    whole.rows[rowID] = (false, [])
                    recorder.insert(rowID)
                    part.insert(rowID)
                } else if random.flag() {
                    if whole.rows.removeValue(forKey: rowID)?.isOld == true { whole.gone.insert(rowID) }
                    recorder.delete(rowID)
                    part.delete(rowID)
                } else {
                    whole.rows[rowID]?.columns.insert(column)
                    recorder.modify(rowID, [column])
                    part.modify(rowID, [column])
                }
            }
            sum.merge(part.changes)
        }
        #expect(recorder.changes == whole.changes)
        #expect(sum == whole.changes)
        let set = ChangeSet([1: sum])
        #expect(ChangeSet(set.encoded(shape), shape) == set)
    }

    @Test("Sets of rowids behave like sets")
    func rowIDSets() {
        var random = RandomValues(.printed(for: "rowid sets"))
        for _ in 0..<200 {
            let left = Set((0..<random.int(0...30)).map { _ in Int64(random.int(-20...40)) })
            let right = Set((0..<random.int(0...30)).map { _ in Int64(random.int(-20...40)) })
            let (a, b) = (RowIDSet(left), RowIDSet(right.sorted()))
            #expect(Array(a) == left.sorted())
            #expect(Array(a.union(b)) == left.union(right).sorted())
            #expect(Array(a.subtracting(b)) == left.subtracting(right).sorted())
            #expect(a.union(b) == RowIDSet(left.union(right)))
            #expect(a.intersection(b) == RowIDSet(left.intersection(right)))
            #expect(a.count == left.count)
            for rowID in -21...41 as ClosedRange<Int64> { #expect(a.contains(rowID) == left.contains(rowID)) }
        }
        let edges: RowIDSet = [.min, .max]
        #expect(Array(edges) == [.min, .max])
        #expect(RowIDSet(first: .min, last: .max).count == .max)
    }

    @Test("A bulk insert takes a few bytes, as does one changed object")
    func compactness() {
        #expect(ChangeSet([0: changes(inserted: RowIDSet(first: 1, last: 100_000))]).encoded(shape).count == 17)
        #expect(ChangeSet([1: changes(modified: [1_000: [1]])]).encoded(shape).count == 19)
    }

    @Test("A set too long to keep means that everything may have changed")
    func bound() {
        let rows = stride(from: 0 as Int64, to: 1 << 60, by: 1 << 42)
        let long = ChangeSet([0: changes(deleted: RowIDSet(rows)), 1: changes(inserted: [1])])
        #expect(ChangeSet(long.encoded(shape), shape) == ChangeSet([0: .everything, 1: .everything]))
        var records = RowRecords()
        for rowID in 0...Int64(ModifiedRows.maximumCount) { records.modify(rowID, [0]) }
        #expect(records.changes == .everything)
    }

    @Test("A reader skips classes it lacks, and treats unknown properties as a change of everything")
    func otherSchemas() throws {
        let set = ChangeSet([0: changes(inserted: [1]), 1: changes(inserted: [2])])
        let bytes = set.encoded(shape)
        let other = ChangeShape(try Self.schema(second: ["_id", "title"]))
        #expect(ChangeSet(bytes, other) == ChangeSet([0: changes(inserted: [1]), 1: .everything]))
        let fewer = ChangeShape(
            try Schema([
                ClassSchema(
                    name: "Beta", table: "beta",
                    columns: [
                        Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                        Column(name: "name", type: .int(bits: 64)),
                    ])
            ]))
        #expect(ChangeSet(bytes, fewer) == ChangeSet([0: changes(inserted: [2])]))
    }

    @Test("Truncated or corrupted bytes are refused or misread but never trap")
    func damage() {
        var random = RandomValues(.printed(for: "damaged change sets"))
        let set = ChangeSet([
            0: changes(
                inserted: [-5, 1, 2, 3, .max], deleted: [.min, 9, 10], modified: [4: [0], 6: [1], 70: [0, 65]]),
            1: .everything,
        ])
        let bytes = set.encoded(shape)
        #expect(ChangeSet(bytes, shape) == set)
        // Cutting the bytes between two classes leaves a valid set of those before the cut.
        let whole = (0..<bytes.count).filter { ChangeSet(Array(bytes[..<$0]), shape) != nil }
        #expect(whole == [1, bytes.count - 9])
        for _ in 0..<20_000 {
            var damaged = bytes
            for _ in 0..<random.int(1...4) { damaged[random.int(0...bytes.count - 1)] = UInt8(random.int(0...255)) }
            if let read = ChangeSet(damaged, shape) { _ = read.encoded(shape) }
        }
        for _ in 0..<20_000 {
            let noise = [1] + bytes[1..<9] + [0] + (0..<random.int(0...40)).map { _ in UInt8(random.int(0...255)) }
            _ = ChangeSet(noise, shape)
        }
    }
}
