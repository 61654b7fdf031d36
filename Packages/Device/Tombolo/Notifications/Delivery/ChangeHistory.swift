internal import TomboloSQLiteStore

/// The changes that some observer of a Realm has not heard of. Observers hear at different times; entries between which
/// nobody stands are one, so that there are never more entries than observers.
struct ChangeHistory {
    private var entries: [PendingChanges] = []
    /// The position of the first entry.
    private var first = 0

    /// Where an observer stands that has heard everything.
    var end: Int { first + entries.count }

    mutating func append(_ changes: PendingChanges, positions: some Sequence<Int>) {
        // Whoever stands at the end must be able to go on from there.
        if entries.isEmpty || positions.contains(end) {
            entries.append(changes)
        } else {
            entries[entries.count - 1].merge(changes)
        }
        trim(to: positions)
    }

    /// Everything after a position; nil where there is nothing.
    func changes(after position: Int) -> PendingChanges? {
        guard position < end else { return nil }
        var result = entries[position - first]
        for entry in entries[(position - first + 1)...] { result.merge(entry) }
        return result
    }

    /// Forgets what everybody has heard of.
    mutating func trim(to positions: some Sequence<Int>) {
        let needed = positions.min() ?? end
        guard needed > first else { return }
        entries.removeFirst(needed - first)
        first = needed
    }
}
