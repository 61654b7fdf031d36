internal import TomboloSQLiteStore

/// Which rows of a class were deleted lately. Where the primary key is the rowid another object may have it by now, and
/// instances of the one before must not become the other; nor may they come back when the transaction is cancelled.
/// What is too long ago is forgotten: such instances do.
struct RowDeletions {
    private struct Entry {
        /// The class's stamp when the first of the rows had gone.
        let stamp: UInt64
        let rows: RowIDSet
    }

    /// Of commits, the latest last.
    private var entries: [Entry] = []
    /// Single rows of own write transactions, the latest ones, in a ring.
    private var own: [(stamp: UInt64, rowid: Int64)] = []
    private var ownCount = 0
    /// The stamp before the first deletion of the write transaction under way.
    private var start: UInt64?
    private var last: UInt64 = 0

    private static let maximumEntryCount = 64
    private static let maximumOwnCount = 256

    /// Others deleted rows.
    mutating func note(_ rows: RowIDSet, stamp: UInt64) {
        if rows.isEmpty { return }
        if entries.count == Self.maximumEntryCount { entries.removeFirst() }
        entries.append(Entry(stamp: stamp, rows: rows))
        last = stamp
    }

    /// The write transaction deletes a row.
    mutating func note(_ rowid: Int64, stamp: UInt64) {
        begin(stamp: stamp)
        if own.count < Self.maximumOwnCount {
            own.append((stamp, rowid))
        } else {
            own[ownCount % Self.maximumOwnCount] = (stamp, rowid)
        }
        ownCount += 1
        last = stamp
    }

    /// The write transaction deletes rows that are not named.
    mutating func begin(stamp: UInt64) { if start == nil { start = stamp } }

    /// The write transaction was committed.
    mutating func commit(_ rows: RowIDSet) {
        if let start { note(rows, stamp: start) }
        start = nil
    }

    /// The write transaction was cancelled: the rows are back, and instances of what they were stay without one.
    mutating func cancel(_ rows: RowIDSet, stamp: UInt64) {
        start = nil
        own = []
        ownCount = 0
        note(rows, stamp: stamp)
    }

    /// Whether the row has gone that was there at a stamp.
    func contains(_ rowid: Int64, since stamp: UInt64) -> Bool {
        guard last > stamp else { return false }
        return own.contains { $0.stamp > stamp && $0.rowid == rowid }
            || entries.contains { $0.stamp > stamp && $0.rows.contains(rowid) }
    }
}
