/// A bug that a simulation can switch on, to show that its checks find it. Used only in the simulated stores, gateways
/// and devices, never in production code.
public enum Mutant: String, CaseIterable, Sendable {
    /// Progress includes changesets whose transaction hasn't committed.
    case acknowledgeBeforeCommit
    /// A repeated upload is applied again.
    case noDuplicateCheck
    /// A tick's rows are read with the reader's own, later snapshot.
    case ownSnapshotRead
    /// Changes are found with a sequence cursor instead of a difference of snapshots.
    case sequenceCursor
    /// Of equal stamps, the changeset that arrives later wins.
    case tieWithoutClient
    /// An acknowledgement empties the device's queue.
    case pendingDroppedAtAcknowledgement
    /// The changelog since the base omits transactions that were running at the base.
    case changelogIgnoresRunning
    /// The progress row is written last, without a condition.
    case progressWrittenLast
    /// Objects that stop matching stay on the device.
    case moveOutNotSent
    /// Devices' stamps aren't clamped.
    case stampNotClamped
    /// Concurrent erases are ignored.
    case eraseDoesNotWin
    /// A device applies frames as they arrive.
    case framesAppliedBeforeEnd
    /// A tick is sent before it's durable.
    case tickNotDurable
    /// A lease without fencing: the late tick of a sequencer that was replaced is committed.
    case lateTickAccepted
    /// The stamp of the group's first changeset stays set for the others.
    case leakedStamp
    /// A base below the retention floor is treated as the floor.
    case droppedBaseAccepted
    /// The base is compared with the retention floor before reading the changelog, not after.
    case baseCheckedFirst
    /// A batch hides pending changesets until they are acknowledged.
    case pendingNotReplayed
    /// A live frame is sent to the sessions of another group.
    case frameToWrongGroup
    /// An addition enters the changelog as a set.
    case additionLoggedAsSet
    /// The predicate index finds no predicates by range.
    case indexForgetsRange
}
