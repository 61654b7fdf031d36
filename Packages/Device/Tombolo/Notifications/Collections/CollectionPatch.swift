internal import TomboloSQLiteStore

/// Updates an ordered array of rows, of which only some may have been inserted, deleted or moved. Pure: the order is a
/// parameter.
struct CollectionPatch {
    /// Rows that may have been inserted, deleted or moved; all others keep their order.
    var touched: RowIDSet
    /// The touched rows that belong to the new collection, in its order.
    var matches: [Int64]
    /// Touched rowids that now belong to another row.
    var others: RowIDSet

    /// - Parameters:
    ///   - rows: the old collection, which becomes the new one.
    ///   - precedes: whether a touched row comes before an untouched one.
    /// - Returns: the deletions and insertions.
    func apply(to rows: inout [Int64], precedes: (Int64, Int64) -> Bool) -> CollectionDifference {
        let leaving = oldPositions(in: rows)
        if leaving.isEmpty, matches.isEmpty { return CollectionDifference() }
        let rest = rows.without(leaving)
        let gaps = place(among: rest, precedes)
        let kept = keptMatches(leaving, rows, gaps)

        var result = CollectionDifference()
        for position in leaving where !kept.oldPositions.contains(position) { result.deletions.append(position) }
        for index in matches.indices where !kept.matches[index] { result.insertions.append(gaps[index] + index) }
        if !result.deletions.isEmpty || !result.insertions.isEmpty {
            rows = Self.merged(rest, matches, gaps)
        }
        return result
    }

    private func oldPositions(in rows: [Int64]) -> [Int] {
        if touched.isEmpty { return [] }
        let filter = RowFilter(touched)
        var result: [Int] = []
        rows.withUnsafeBufferPointer { rows in
            for (position, row) in rows.enumerated() where filter.contains(row) { result.append(position) }
        }
        return result
    }

    /// The number of remaining rows before each match. Finds the place of the middle match by binary search, then
    /// places the matches on either side within their ranges.
    private func place(among rest: [Int64], _ precedes: (Int64, Int64) -> Bool) -> [Int] {
        var gaps = Array(repeating: 0, count: matches.count)
        func place(_ range: Range<Int>, _ low: Int, _ high: Int) {
            if range.isEmpty { return }
            let middle = (range.lowerBound + range.upperBound) / 2
            var (from, to) = (low, high)
            while from < to {
                let probe = (from + to) / 2
                if precedes(matches[middle], rest[probe]) { to = probe } else { from = probe + 1 }
            }
            gaps[middle] = from
            place(range.lowerBound..<middle, low, from)
            place((middle + 1)..<range.upperBound, from, high)
        }
        place(0..<matches.count, 0, rest.count)
        return gaps
    }

    /// The matches that didn't move: they are between the same remaining rows, and in the same order among themselves.
    private func keptMatches(
        _ leaving: [Int], _ rows: [Int64], _ gaps: [Int]
    ) -> (matches: [Bool], oldPositions: Set<Int>) {
        var oldOf: [Int64: (position: Int, gap: Int)] = [:]
        oldOf.reserveCapacity(leaving.count)
        for (index, position) in leaving.enumerated() { oldOf[rows[position]] = (position, position - index) }
        var isKept = Array(repeating: false, count: matches.count)
        var oldPositions: Set<Int> = []
        var start = 0
        while start < matches.count {
            var end = start
            while end < matches.count, gaps[end] == gaps[start] { end += 1 }
            let stayed = (start..<end).compactMap { index -> (match: Int, old: Int)? in
                guard let old = oldOf[matches[index]], old.gap == gaps[index], !others.contains(matches[index]) else {
                    return nil
                }
                return (index, old.position)
            }
            for index in stayed.map(\.old).longestIncreasingPositions() {
                isKept[stayed[index].match] = true
                oldPositions.insert(stayed[index].old)
            }
            start = end
        }
        return (isKept, oldPositions)
    }

    private static func merged(_ rest: [Int64], _ matches: [Int64], _ gaps: [Int]) -> [Int64] {
        var result: [Int64] = []
        result.reserveCapacity(rest.count + matches.count)
        var start = 0
        for (match, gap) in zip(matches, gaps) {
            result.append(contentsOf: rest[start..<gap])
            result.append(match)
            start = gap
        }
        result.append(contentsOf: rest[start...])
        return result
    }
}

extension [Int64] {
    /// All elements except those at these positions, which must be ascending.
    fileprivate func without(_ positions: [Int]) -> [Int64] {
        if positions.isEmpty { return self }
        var result: [Int64] = []
        result.reserveCapacity(count - positions.count)
        var start = 0
        for position in positions {
            result.append(contentsOf: self[start..<position])
            start = position + 1
        }
        result.append(contentsOf: self[start...])
        return result
    }
}
