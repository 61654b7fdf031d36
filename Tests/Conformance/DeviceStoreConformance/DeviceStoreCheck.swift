import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

/// The promises of ``DeviceStore``, one case each. A test runs every case:
///
///     @Test(arguments: DeviceStoreCheck.allCases)
///     func keepsItsPromises(_ check: DeviceStoreCheck) throws { try check.run(MyHarness.self) }
public enum DeviceStoreCheck: String, CaseIterable, Sendable, CustomStringConvertible {
    case newFileStandsBeforeTheFirstBatch = "A new file is at the position before the first batch"
    case batchBringsRowsPositionAndSubscriptions = "A batch brings rows, position and active subscriptions"
    case changedColumnsOnly = "A block of changed columns leaves the others alone"
    case removalTakesTheListAlong = "Removing an object removes the elements of its lists"
    case framesAreStagedOutOfSight = "Staged frames are invisible until the batch ends"
    case missingFramesChangeNothing = "A batch with missing frames changes nothing"
    case restagingDropsAnEarlierBatch = "A frame with sequence 0 drops those of an earlier batch"
    case localWritesAreQueued = "Local writes are queued with numbers, base and rising stamps"
    case pendingRespectsLimits = "Pending changesets come in order and within the limits"
    case acknowledgementUncoversTheServersValue = "An acknowledged edit gives way to the server's value"
    case refusalUncoversTheServersValue = "A refused edit gives way to the server's value and others stay"
    case refusalsAreKeptUntilTold = "Refusals survive a restart until the app has been told"
    case pendingEditsStayOnTop = "Pending edits stay on top of what the server changes"
    case pendingEditSurvivesMoveOut = "A pending edit survives when its object moves out and in again"
    case pendingEraseIsUndone = "An erased object comes back with its list if the erase is refused"
    case createOnExistingKeepsServerDefaults = "A pending create of an arriving object sets only explicit fields"
    case additionsAddToTheServersValue = "Pending additions add to the server's value"
    case replacingEverything = "A batch that replaces everything removes the rest and moves the queue's base"
    case resetStartsOver = "A reset numbers the queue from 1 under the new client id and keeps the rows"
    case subscriptionsAreVersioned = "The active set is the one used for the last batch"
    case subscriptionsAreNotOverwritten = "A version of the subscriptions is never overwritten with different content"
    case refusedSubscriptionsAreNotWanted = "A refused set isn't wanted again, and a newer one is"
    case discardedEditsUncoverTheServersValues = "A discarding reset drops the queue with its batch, not before"
    case notedResetKeepsItsNumbers = "A reset under the same client id ends with the batch that replaces everything"
    case everythingSurvivesARestart = "State, queue, rows and staged frames survive a restart"
    case emptyBatchMovesThePosition = "A batch without frames only moves the position"
    case randomHistories = "After every batch of a random history, the rows are the server's with the queue on top"

    public var description: String { rawValue }

    public func run<Harness: DeviceStoreHarness>(_ type: Harness.Type) throws {
        let schema = try ConformanceSchema.make()
        if self == .randomHistories {
            for seed in 1...Self.randomSeeds { try RandomHistory<Harness>(schema: schema, seed: seed).run() }
            return
        }
        try DeviceStoreScenario<Harness>(schema: schema).run(self)
    }

    /// How many random histories a run plays.
    public static let randomSeeds: UInt64 = 60
}
