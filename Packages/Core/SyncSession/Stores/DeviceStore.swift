public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// What synchronising needs of the device's file. One conformance suite runs on every implementation.
///
/// Calls come from one place at a time (the session's engine); other connections may write to the same file meanwhile.
/// Every method is one transaction: after a kill its effect is there or not, never in part.
public protocol DeviceStore: AnyObject {
    var schema: Schema { get }

    /// Where the device stands.
    func state() throws -> DeviceState

    /// Pending changesets with greater numbers, in order: as many as the limits allow, at least one if there is one.
    func pendingChangesets(after number: Int64, maximumCount: Int, maximumByteCount: Int) throws -> [Changeset]

    /// Keeps a frame of an unfinished batch, outside the class tables. A frame with sequence 0 drops those of an
    /// earlier batch.
    func stage(_ frame: BatchFrame) throws

    /// Applies a batch: the server's values beneath pending changesets come back, the frames are applied,
    /// acknowledged changesets leave the queue, the others are replayed on top, and the position, the active
    /// subscriptions and the clock are those of the batch.
    ///
    /// With `replacesAll`, what the batch does not name is removed, and pending changesets stand on the new tick. If a
    /// client reset has begun, this is its transaction: pending changesets are replayed or dropped as was decided, and
    /// the reset is ``ClientReset/applied``.
    /// - Parameters:
    ///   - frames: the batch's last frames, in order, which were not staged; empty for a batch without frames.
    ///   - wallMicroseconds: the device's wall clock.
    /// - Throws: ``StagedFramesMissing`` when the staged frames are not the batch's, ``RecoveryFailed`` when a client
    ///   reset can't replay the pending changesets; nothing is changed then.
    func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch

    /// Stores the set that the app wants; ``DeviceState/wanted``.
    func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws

    /// The server doesn't accept a version of the subscriptions: from now on ``DeviceState/wanted`` is the newest set
    /// that wasn't refused.
    func refuseSubscriptions(version: Int64, reason: String) throws

    /// What batches said was refused and ``forgetRefusals(through:)`` hasn't removed, with greater ids, oldest first.
    func untoldRefusals(after id: Int64) throws -> [UntoldRefusal]

    /// The app has been told of the refusals up to an id.
    func forgetRefusals(through id: Int64) throws

    /// Begins a client reset under the same client id: the next batch that replaces everything completes it.
    func noteReset() throws

    /// Begins a client reset under a new client id: position none, no acknowledged changeset, pending changesets
    /// renumbered from 1 in their order. Class tables keep their content until the next batch replaces it.
    /// - Parameter discardsPending: whether that batch drops the pending changesets, with those made until then.
    func reset(client: ClientID, discardsPending: Bool) throws

    /// Forgets a client reset that was applied: the app has been told.
    func finishReset() throws
}

/// How far a client reset has come. Kept in the file, so that a killed app goes on with it.
public enum ClientReset: Int64, Hashable, Sendable {
    /// The next batch that replaces everything replays the pending changesets.
    case recovering = 1
    /// That batch drops them.
    case discarding = 2
    /// That batch was applied, and the app may not have been told.
    case applied = 3
}

/// A client reset couldn't replay a changeset of the queue.
public struct RecoveryFailed: Error, CustomStringConvertible {
    /// What the store says of the changeset.
    public let cause: any Error

    public init(_ cause: any Error) { self.cause = cause }

    public var description: String { "Unsynced changes can't be recovered: \(cause)" }
}

/// What a device tells the server at each connect.
public struct DeviceState: Hashable, Sendable {
    public var client: ClientID
    public var position: Position
    /// The set that the content was made with.
    public var active: SubscriptionSet
    /// The newest set that the app wants and the server hasn't refused.
    public var wanted: SubscriptionSet
    /// The highest changeset number whose outcome the device has.
    public var acknowledged: Int64
    /// The highest changeset number given out.
    public var lastChangeset: Int64
    /// Nil unless the device is starting over.
    public var reset: ClientReset?

    public init(
        client: ClientID, position: Position, active: SubscriptionSet, wanted: SubscriptionSet, acknowledged: Int64,
        lastChangeset: Int64, reset: ClientReset? = nil
    ) {
        self.client = client
        self.position = position
        self.active = active
        self.wanted = wanted
        self.acknowledged = acknowledged
        self.lastChangeset = lastChangeset
        self.reset = reset
    }
}

/// A refusal that the app hasn't been told of.
public struct UntoldRefusal: Hashable, Sendable {
    /// Greater than those of all that arrived before and are still there.
    public let id: Int64
    public let write: RefusedWrite

    /// The number of refusals that a file keeps for an app that has no error handler: the newest.
    public static let maximumCount = 1_000

    public init(id: Int64, write: RefusedWrite) {
        self.id = id
        self.write = write
    }
}

/// What a batch did, for listeners and for the app's error handler.
public struct AppliedBatch: Hashable, Sendable {
    public var position: Position
    public var acknowledged: Int64
    public var refusals: [RefusedWrite]
    public var objectCount: Int
    /// The batch replaced everything; pending changesets stand on its tick now.
    public var isEverything: Bool

    public init(
        position: Position, acknowledged: Int64, refusals: [RefusedWrite], objectCount: Int, isEverything: Bool
    ) {
        self.position = position
        self.acknowledged = acknowledged
        self.refusals = refusals
        self.objectCount = objectCount
        self.isEverything = isEverything
    }
}

/// The frames that a device staged are not those of the batch that ended: it reconnects and gets the batch again.
public struct StagedFramesMissing: Error, Hashable, Sendable {
    public let expected: Int
    public let found: Int

    public init(expected: Int, found: Int) {
        self.expected = expected
        self.found = found
    }
}
