internal import TomboloSQLiteStore

/// The changes that at least one observer of a Realm hasn't been told of. Observers are notified at different times.
/// Neighbouring entries are merged unless an observer's position is between them, so there are never more entries than
/// observers.
struct ChangeHistory {
    private var entries: [PendingChanges] = []
    /// The position of the first entry.
    private var first = 0

    /// The position of an observer that is up to date.
    var end: Int { first + entries.count }

    mutating func append(_ changes: PendingChanges, positions: some Sequence<Int>) {
        // An observer at the end must be able to continue from there.
        if entries.isEmpty || positions.contains(end) {
            entries.append(changes)
        } else {
            entries[entries.count - 1].merge(changes)
        }
        trim(to: positions)
    }

    /// All changes after a position, or nil if there are none.
    func changes(after position: Int) -> PendingChanges? {
        guard position < end else { return nil }
        var result = entries[position - first]
        for entry in entries[(position - first + 1)...] { result.merge(entry) }
        return result
    }

    /// Drops changes that all observers have been told of.
    mutating func trim(to positions: some Sequence<Int>) {
        let needed = positions.min() ?? end
        guard needed > first else { return }
        entries.removeFirst(needed - first)
        first = needed
    }
}
