internal import TomboloChangesets

/// What a write transaction did so far.
struct WriteTransaction {
    /// Counts the transactions of a Realm: tells which one made a row.
    let number: UInt64
    /// Not yet performed on the tables.
    var waiting = InstructionLog()
    /// For upload; empty in a local Realm.
    var changeset = InstructionLog()
    /// The first thing that went wrong; the transaction cannot be committed.
    var failure: (any Error)?
    var hasChanges = false
    /// The last rowid given out, by class without a primary key.
    var lastRowIDs: [Int: Int64] = [:]
}
