internal import TomboloSQLiteStore

/// Which rows of a class were deleted lately. Where the primary key is the rowid another object may have it by now, and
/// instances of the one before must not become the other. What is too long ago is forgotten: such instances do.
struct RowDeletions {
    private struct Entry {
        /// The class's stamp when the first of the rows had gone.
        let stamp: UInt64
        /// The Realm's write transactions up to this one made none of the rows that came afterwards.
        let transaction: UInt64
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
    mutating func note(_ rows: RowIDSet, stamp: UInt64, transaction: UInt64) {
        if rows.isEmpty { return }
        if entries.count == Self.maximumEntryCount { entries.removeFirst() }
        entries.append(Entry(stamp: stamp, transaction: transaction, rows: rows))
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
    mutating func commit(_ rows: RowIDSet, transaction: UInt64) {
        if let start { note(rows, stamp: start, transaction: transaction - 1) }
        start = nil
    }

    /// The write transaction was cancelled.
    mutating func cancel() {
        if start == nil { return }
        start = nil
        own = []
        ownCount = 0
    }

    /// Whether the row has gone that was there at a stamp, or that a transaction made where the stamp is 0.
    func contains(_ rowid: Int64, since stamp: UInt64, createdIn transaction: UInt64) -> Bool {
        guard last > stamp else { return false }
        if stamp == 0 {
            guard transaction != 0 else { return false }
            return entries.contains { $0.transaction >= transaction && $0.rows.contains(rowid) }
        }
        return own.contains { $0.stamp > stamp && $0.rowid == rowid }
            || entries.contains { $0.stamp > stamp && $0.rows.contains(rowid) }
    }
}
