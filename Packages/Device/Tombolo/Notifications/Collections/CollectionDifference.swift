internal import TomboloSQLiteStore

/// The difference between an old and a new collection of rows. `deletions` and `modifications` are positions in the old
/// collection, `insertions` in the new one; all are in ascending order. A row that moved is both deleted and inserted.
struct CollectionDifference: Equatable {
    var deletions: [Int] = []
    var insertions: [Int] = []
    var modifications: [Int] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension CollectionDifference {
    /// Compares two collections without duplicate rows. Takes linear time as long as few rows moved.
    /// - Parameters:
    ///   - isOther: whether a rowid now belongs to another row.
    ///   - isModified: whether a row that stayed has changed.
    init(from old: [Int64], to new: [Int64], isOther: (Int64) -> Bool, isModified: (Int64) -> Bool) {
        var start = 0
        while start < old.count, start < new.count, old[start] == new[start], !isOther(old[start]) {
            if isModified(old[start]) { modifications.append(start) }
            start += 1
        }
        var (oldEnd, newEnd) = (old.count, new.count)
        while oldEnd > start, newEnd > start, old[oldEnd - 1] == new[newEnd - 1], !isOther(old[oldEnd - 1]) {
            oldEnd -= 1
            newEnd -= 1
        }
        if oldEnd > start || newEnd > start {
            compareMiddle(old, start..<oldEnd, new, start..<newEnd, isOther, isModified)
        }
        for position in oldEnd..<old.count where isModified(old[position]) { modifications.append(position) }
    }

    private mutating func compareMiddle(
        _ old: [Int64], _ oldRange: Range<Int>, _ new: [Int64], _ newRange: Range<Int>, _ isOther: (Int64) -> Bool,
        _ isModified: (Int64) -> Bool
    ) {
        let newPositions = RowPositions(new, newRange)
        // The positions of the rows that are in both, in their old order.
        var common: [(old: Int, new: Int)] = []
        for position in oldRange {
            if let other = newPositions[old[position]], !isOther(old[position]) { common.append((position, other)) }
        }
        let kept = common.map(\.new).longestIncreasingPositions()
        var keptNew = kept.makeIterator()
        var nextKept = keptNew.next()
        var keptOld: [Int] = []
        var isKeptNew = Array(repeating: false, count: newRange.count)
        for (index, pair) in common.enumerated() where index == nextKept {
            keptOld.append(pair.old)
            isKeptNew[pair.new - newRange.lowerBound] = true
            nextKept = keptNew.next()
        }
        var next = 0
        for position in oldRange {
            if next < keptOld.count, keptOld[next] == position {
                next += 1
                if isModified(old[position]) { modifications.append(position) }
            } else {
                deletions.append(position)
            }
        }
        for position in newRange where !isKeptNew[position - newRange.lowerBound] { insertions.append(position) }
    }
}

/// Finds the positions of rows within part of an array.
private struct RowPositions {
    private var table: [Int32] = []
    private var first: Int64 = 0
    private var dictionary: [Int64: Int] = [:]

    /// Rowids are mostly close together. Then a table is faster than hashing.
    private static let maximumSlotsPerRow = 8

    init(_ rows: [Int64], _ range: Range<Int>) {
        guard let lowest = rows[range].min(), let highest = rows[range].max() else { return }
        let (distance, overflow) = highest.subtractingReportingOverflow(lowest)
        if !overflow, distance < Int64(range.count) * Int64(Self.maximumSlotsPerRow), rows.count < Int(Int32.max) {
            first = lowest
            table = Array(repeating: -1, count: Int(distance) + 1)
            for position in range { table[Int(rows[position] - lowest)] = Int32(position) }
        } else {
            dictionary.reserveCapacity(range.count)
            for position in range { dictionary[rows[position]] = position }
        }
    }

    subscript(row: Int64) -> Int? {
        if table.isEmpty { return dictionary[row] }
        let (slot, overflow) = row.subtractingReportingOverflow(first)
        guard !overflow, slot >= 0, slot < Int64(table.count) else { return nil }
        let position = table[Int(slot)]
        return position < 0 ? nil : Int(position)
    }
}

extension [Int] {
    /// The positions of a longest increasing subsequence, found by patience sorting. Sorted parts take linear time.
    func longestIncreasingPositions() -> [Int] {
        // For each length, the position of the smallest last element of an increasing subsequence.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: count)
        for (position, value) in enumerated() {
            var place = tails.count
            if let last = tails.last, self[last] >= value {
                var (low, high) = (0, tails.count - 1)
                while low < high {
                    let middle = (low + high) / 2
                    if self[tails[middle]] < value { low = middle + 1 } else { high = middle }
                }
                place = low
            }
            if place > 0 { previous[position] = tails[place - 1] }
            if place == tails.count { tails.append(position) } else { tails[place] = position }
        }
        var result = [Int](repeating: 0, count: tails.count)
        var position = tails.last ?? -1
        for index in result.indices.reversed() {
            result[index] = position
            position = previous[position]
        }
        return result
    }
}
