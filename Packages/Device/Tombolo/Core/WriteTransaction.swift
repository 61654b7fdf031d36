internal import TomboloChangesets

/// What a write transaction did so far.
struct WriteTransaction {
    /// Counts the transactions of a Realm: tells which one made an object.
    let number: UInt64
    /// For upload; nil in a local Realm.
    var changeset: InstructionLog?
    /// The first thing that went wrong; the transaction cannot be committed.
    var failure: (any Error)?
    /// SQLite failed, or the transaction could not begin: nothing more is written.
    var isBroken = false
    var hasChanges = false
    var hasMadeObjects = false
    /// Classes that lost rows.
    var deletedFrom: Set<Int> = []
}
