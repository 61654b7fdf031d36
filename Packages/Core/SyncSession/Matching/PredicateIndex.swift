package import TomboloModel

/// The predicates that devices have on one class, arranged so that a row finds those it satisfies without evaluating
/// the others.
///
/// The index enters each predicate under the accesses of its ``Cover``. A lookup takes the row's value in each column
/// and evaluates only the predicates found there.
package struct PredicateIndex: Sendable {
    /// A predicate that is evaluated for every row.
    package struct Unindexed: Hashable, Sendable {
        package let id: Int
        /// The predicate's ``Predicate/partCount``.
        package let partCount: Int
        /// The predicate's ``Predicate/searchCount``.
        package let searchCount: Int
        fileprivate let slot: Int
    }

    private struct Entry {
        let id: Int
        let predicate: Predicate
        /// Nil if every row that finds the entry satisfies the predicate.
        let test: RowPredicate?
        /// Whether a row may find the entry more than once.
        let mayRepeat: Bool
        /// The places of the cover's accesses, in their order. If there is no cover, the position in `unindexed`.
        var places: [Int] = []
    }

    private struct ColumnIndex {
        var values = PostingLists()
        var intervals = IntervalTree()
    }

    private let item: ClassSchema
    private var slots: [Int: Int] = [:]
    /// By slot.
    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    /// By the column's position in the class.
    private var columns: [ColumnIndex]
    /// The predicates that no equality, `IN` or range narrows, in no particular order. All of them are evaluated for
    /// every row.
    package private(set) var unindexed: [Unindexed] = []

    /// An empty index.
    package init(of item: ClassSchema) {
        self.item = item
        columns = Array(repeating: ColumnIndex(), count: item.columns.count)
    }

    package var isEmpty: Bool { slots.isEmpty }

    /// Adds a predicate, whose paths must have only one name. Replaces any predicate with the same id.
    package mutating func insert(_ predicate: Predicate, id: Int) {
        remove(id: id)
        let cover = Cover(of: predicate, in: item)
        let slot = freeSlots.popLast() ?? entries.count
        if slot == entries.count { entries.append(nil) }
        slots[id] = slot
        let isFound = cover != nil && predicate.asksForValues
        var entry = Entry(
            id: id, predicate: predicate, test: isFound ? nil : RowPredicate(predicate, of: item),
            mayRepeat: cover?.mayRepeat ?? false)
        if let cover {
            entry.places = cover.accesses.map { access in
                switch access {
                case .value(let value, let column): columns[column].values.insert(value, slot: slot)
                case .interval(let interval, let column): columns[column].intervals.insert(interval, slot: slot)
                }
            }
        } else {
            entry.places = [unindexed.count]
            unindexed.append(
                Unindexed(
                    id: id, partCount: predicate.partCount, searchCount: predicate.searchCount, slot: slot))
        }
        entries[slot] = entry
    }

    /// Removes a predicate. Does nothing if the id isn't in the index.
    package mutating func remove(id: Int) {
        guard let slot = slots.removeValue(forKey: id), let entry = entries[slot] else { return }
        if let cover = Cover(of: entry.predicate, in: item) {
            for (access, place) in zip(cover.accesses, entry.places) {
                switch access {
                case .value(let value, let column): columns[column].values.remove(value, place)
                case .interval(_, let column): columns[column].intervals.remove(place)
                }
            }
        } else {
            let last = unindexed.removeLast()
            if last.slot != slot {
                unindexed[entry.places[0]] = last
                entries[last.slot]?.places = entry.places
            }
        }
        entries[slot] = nil
        freeSlots.append(slot)
    }

    /// Calls `body` once for each id whose predicate the row satisfies, in no particular order.
    /// - Returns: the number of candidates.
    @discardableResult
    package func forEachMatch(of row: Row, _ body: (Int) -> Void) -> Int {
        let candidates = candidates(for: row)
        for slot in candidates {
            if let entry = entries[slot], entry.test?.matches(row) ?? true { body(entry.id) }
        }
        return candidates.count
    }

    /// The ids of the candidates for a row, each once, in no particular order.
    package func candidateIDs(for row: Row) -> [Int] { candidates(for: row).compactMap { entries[$0]?.id } }

    /// The slots of the candidates, each once.
    private func candidates(for row: Row) -> [Int] {
        var result = unindexed.map(\.slot)
        for column in columns.indices {
            if !columns[column].values.isEmpty { columns[column].values.append(at: row[column], to: &result) }
            if !columns[column].intervals.isEmpty, !row[column].isNull {
                columns[column].intervals.append(containing: row[column], to: &result)
            }
        }
        if result.count - unindexed.count > 1 {
            // Most predicates can't be found twice by the same row, so the set usually stays empty.
            var found: Set<Int> = []
            result.removeAll { slot in (entries[slot]?.mayRepeat ?? true) && !found.insert(slot).inserted }
        }
        return result
    }
}

extension Predicate {
    /// Whether the predicate only requires that a column has one of some values.
    fileprivate var asksForValues: Bool {
        switch self {
        case .compare(_, .equal, _), .isIn: true
        default: false
        }
    }
}
