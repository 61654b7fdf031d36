internal import TomboloSQLiteStore

/// Recently deleted rows of a class. If the primary key is the rowid, another object may have taken a deleted object's
/// rowid. Instances of the deleted object must neither show the new object nor become valid again if the transaction is
/// cancelled. Older deletions are forgotten, so instances of those objects do.
struct RowDeletions {
    private struct Entry {
        /// The class's stamp when the first of the rows was deleted.
        let stamp: UInt64
        let rows: RowIDSet
    }

    /// The deletions of commits, latest last.
    private var entries: [Entry] = []
    /// The rows last deleted by the Realm's own write transactions, in a ring buffer.
    private var own: [(stamp: UInt64, rowid: Int64)] = []
    private var ownCount = 0
    /// The stamp before the first deletion of the current write transaction.
    private var start: UInt64?
    private var last: UInt64 = 0

    private static let maximumEntryCount = 64
    private static let maximumOwnCount = 256

    /// Notes rows deleted by others.
    mutating func note(_ rows: RowIDSet, stamp: UInt64) {
        if rows.isEmpty { return }
        if entries.count == Self.maximumEntryCount { entries.removeFirst() }
        entries.append(Entry(stamp: stamp, rows: rows))
        last = stamp
    }

    /// Notes a row that the current write transaction deleted.
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

    /// Notes that the current write transaction deletes rows without naming them.
    mutating func begin(stamp: UInt64) { if start == nil { start = stamp } }

    /// Notes that the write transaction was committed.
    mutating func commit(_ rows: RowIDSet) {
        if let start { note(rows, stamp: start) }
        start = nil
    }

    /// Notes that the write transaction was cancelled. The rows are back, but old instances stay invalid.
    mutating func cancel(_ rows: RowIDSet, stamp: UInt64) {
        start = nil
        own = []
        ownCount = 0
        note(rows, stamp: stamp)
    }

    /// Whether the row that existed at this stamp has since been deleted.
    func contains(_ rowid: Int64, since stamp: UInt64) -> Bool {
        guard last > stamp else { return false }
        return own.contains { $0.stamp > stamp && $0.rowid == rowid }
            || entries.contains { $0.stamp > stamp && $0.rows.contains(rowid) }
    }
}
