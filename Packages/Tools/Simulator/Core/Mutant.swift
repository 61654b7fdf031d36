/// A bug that a simulation may switch on, to show that its checks would find it. Consulted in the simulated stores,
/// gateways and devices only; production code knows nothing of it.
public enum Mutant: String, CaseIterable, Sendable {
    /// Progress names changesets whose transaction has not committed.
    case acknowledgeBeforeCommit
    /// An upload that comes again is applied again.
    case noDuplicateCheck
    /// Rows of a tick are read under the reader's own, later snapshot.
    case ownSnapshotRead
    /// Changes are found by a sequence cursor instead of a difference of snapshots.
    case sequenceCursor
    /// Between equal stamps the changeset that comes later wins.
    case tieWithoutClient
    /// An acknowledgement empties the device's queue.
    case pendingDroppedAtAcknowledgement
    /// The changelog since the base leaves out what was running at the base.
    case changelogIgnoresRunning
    /// The progress row is written last, without a condition.
    case progressWrittenLast
    /// Objects that stop matching stay on the device.
    case moveOutNotSent
    /// Stamps of devices are believed.
    case stampNotClamped
    /// A concurrent erase is not looked at.
    case eraseDoesNotWin
    /// A device applies frames as they come.
    case framesAppliedBeforeEnd
    /// A tick is sent before it is durable.
    case tickNotDurable
    /// The stamp of the group's first changeset stays set for the others.
    case leakedStamp
    /// A base below the retention floor is taken for the floor.
    case droppedBaseAccepted
    /// Whether the base is above the retention floor is looked at before the changelog, not after it.
    case baseCheckedFirst
    /// A batch hides pending changesets until they are acknowledged.
    case pendingNotReplayed
    /// An addition enters the changelog as a set.
    case additionLoggedAsSet
}
