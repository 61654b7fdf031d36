internal import TomboloSQLiteStore

/// An event of an observed collection.
enum CollectionEvent {
    case initial
    case update(CollectionDifference)
}

/// Observes a collection: keeps its rows and finds the differences in a later version.
final class CollectionObservation: Observation {
    private let core: RealmCore
    private let source: any ObservedRows
    private let scope: ChangeScope
    private let tell: (CollectionEvent) -> Void
    private var rows: [Int64] = []
    private var isOver = false

    init(
        _ state: ObservationState, _ core: RealmCore, _ source: any ObservedRows, _ scope: ChangeScope,
        _ tell: @escaping (CollectionEvent) -> Void
    ) {
        self.core = core
        self.source = source
        self.scope = scope
        self.tell = tell
        super.init(state)
    }

    override var hasBeginning: Bool { true }

    override func begin() {
        rows = source.all() ?? []
        scope.begin(core)
    }

    override func deliver(_ changes: PendingChanges?) {
        guard let changes else { return tell(.initial) }
        let difference = update(changes)
        if !difference.isEmpty { tell(.update(difference)) }
    }

    override func skip(_ changes: PendingChanges) { _ = update(changes) }

    private func update(_ pending: PendingChanges) -> CollectionDifference {
        if isOver { return CollectionDifference() }
        guard let changes = pending.changes else {
            scope.begin(core)
            return compareAll(others: [], modified: nil)
        }
        if source.isGone(after: changes) { return end() }
        let modified = source.modified(by: changes, scope)
        let others = source.replaced(by: changes)
        guard let touched = source.touched(by: changes), !source.isLarge(touched.count, of: rows.count) else {
            return compareAll(others: others, modified: modified)
        }
        var difference = CollectionDifference()
        if !touched.isEmpty {
            let patch = CollectionPatch(touched: touched, matches: source.matching(touched), others: others)
            let order = source.order()
            let old = rows
            difference = patch.apply(to: &rows, precedes: order.precedes)
            difference.modifications = positions(of: modified, in: old, without: difference.deletions)
        } else {
            difference.modifications = positions(of: modified, in: rows, without: [])
        }
        return difference
    }

    private func end() -> CollectionDifference {
        isOver = true
        defer { rows = [] }
        return CollectionDifference(deletions: Array(rows.indices))
    }

    /// The positions of the modified rows that were in the old collection and stayed. If `modified` is nil, all rows
    /// that stayed.
    private func positions(of modified: RowFilter?, in old: [Int64], without deletions: [Int]) -> [Int] {
        if let modified, modified.isEmpty { return [] }
        var result: [Int] = []
        var next = 0
        old.withUnsafeBufferPointer { old in
            for position in old.indices where modified?.contains(old[position]) ?? true {
                while next < deletions.count, deletions[next] < position { next += 1 }
                if next < deletions.count, deletions[next] == position { continue }
                result.append(position)
            }
        }
        return result
    }

    private func compareAll(others: RowIDSet, modified: RowFilter?) -> CollectionDifference {
        let new = source.all()
        isOver = new == nil
        let otherRows = RowFilter(others)
        let difference = CollectionDifference(from: rows, to: new ?? []) {
            otherRows.contains($0)
        } isModified: {
            modified?.contains($0) ?? true
        }
        rows = new ?? []
        return difference
    }
}
