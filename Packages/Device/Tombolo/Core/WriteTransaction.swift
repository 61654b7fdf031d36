internal import TomboloChangesets

/// The state of a write transaction.
struct WriteTransaction {
    /// Numbers the transactions of a Realm, to tell which transaction created an object.
    let number: UInt64
    /// The instructions to upload; nil in a local Realm.
    var changeset: InstructionLog?
    /// The first error. If set, the transaction can't be committed.
    var failure: (any Error)?
    /// Whether SQLite failed or the transaction couldn't begin, so that nothing more is written.
    var isBroken = false
    var hasChanges = false
    var hasMadeObjects = false
    /// The classes from which rows were deleted.
    var deletedFrom: Set<Int> = []
}
