public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// What synchronisation needs from the device's file. One conformance suite runs on every implementation.
///
/// Only one place makes calls at a time (the session's engine); other connections may write to the same file meanwhile.
/// Every method is one transaction: after a crash its effect is there completely or not at all.
public protocol DeviceStore: AnyObject {
    var schema: Schema { get }

    /// The state to tell the server when connecting.
    func state() throws -> DeviceState

    /// Pending changesets with greater numbers, in order: as many as the limits allow, but at least one if there is any.
    func pendingChangesets(after number: Int64, maximumCount: Int, maximumByteCount: Int) throws -> [Changeset]

    /// Stores a frame of an unfinished batch outside the class tables. A frame with sequence 0 drops those of an
    /// earlier batch.
    func stage(_ frame: BatchFrame) throws

    /// Applies a batch. The server's values beneath pending changesets are restored, the frames are applied,
    /// acknowledged changesets leave the queue, and the others are replayed on top. The position, the active
    /// subscriptions and the clock become those of the batch.
    ///
    /// With `replacesAll`, everything that the batch doesn't contain is removed, and pending changesets are based on
    /// the new tick. If a client reset has begun, this transaction performs it: pending changesets are replayed or
    /// dropped, as was decided, and the reset becomes ``ClientReset/applied``.
    /// - Parameters:
    ///   - frames: the batch's last frames, in order, which weren't staged; empty for a batch without frames.
    ///   - wallMicroseconds: the device's wall clock.
    /// - Throws: ``StagedFramesMissing`` if the staged frames aren't the batch's, and ``RecoveryFailed`` if a client
    ///   reset can't replay the pending changesets. Nothing is changed then.
    func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch

    /// Stores the set that the app wants as ``DeviceState/wanted``.
    func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws

    /// Notes that the server refused a version of the subscriptions. ``DeviceState/wanted`` is then the newest set that
    /// wasn't refused.
    func refuseSubscriptions(version: Int64, reason: String) throws

    /// Refusals from batches that ``forgetRefusals(through:)`` hasn't removed, with ids greater than `id`, oldest first.
    func untoldRefusals(after id: Int64) throws -> [UntoldRefusal]

    /// Removes the refusals up to an id, because the app has been told of them.
    func forgetRefusals(through id: Int64) throws

    /// Begins a client reset under the same client id: the next batch that replaces everything completes it.
    func noteReset() throws

    /// Begins a client reset under a new client id: no position, no acknowledged changeset, and pending changesets
    /// renumbered from 1 in order. Class tables keep their content until the next batch replaces it.
    /// - Parameter discardsPending: whether that batch drops the pending changesets, including those made until then.
    func reset(client: ClientID, discardsPending: Bool) throws

    /// Forgets an applied client reset, because the app has been told of it.
    func finishReset() throws
}

/// How far a client reset has come. Stored in the file, so that an app that was killed can continue it.
public enum ClientReset: Int64, Hashable, Sendable {
    /// The next batch that replaces everything replays the pending changesets.
    case recovering = 1
    /// That batch drops the pending changesets.
    case discarding = 2
    /// That batch was applied, but the app may not have been told.
    case applied = 3
}

/// Thrown if a client reset couldn't replay a changeset in the queue.
public struct RecoveryFailed: Error, CustomStringConvertible {
    /// The store's error for the changeset.
    public let cause: any Error

    public init(_ cause: any Error) { self.cause = cause }

    public var description: String { "Unsynced changes can't be recovered: \(cause)" }
}

/// What a device tells the server each time it connects.
public struct DeviceState: Hashable, Sendable {
    public var client: ClientID
    public var position: Position
    /// The subscription set that the content was made with.
    public var active: SubscriptionSet
    /// The newest set that the app wants and the server hasn't refused.
    public var wanted: SubscriptionSet
    /// The highest changeset number whose outcome the device knows.
    public var acknowledged: Int64
    /// The highest changeset number that was assigned.
    public var lastChangeset: Int64
    /// Nil unless a client reset is under way.
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
    /// Greater than the ids of all earlier refusals that are still stored.
    public let id: Int64
    public let write: RefusedWrite

    /// The number of refusals, the newest ones, that a file keeps for an app without an error handler.
    public static let maximumCount = 1_000

    public init(id: Int64, write: RefusedWrite) {
        self.id = id
        self.write = write
    }
}

/// The effects of a batch, for listeners and the app's error handler.
public struct AppliedBatch: Hashable, Sendable {
    public var position: Position
    public var acknowledged: Int64
    public var refusals: [RefusedWrite]
    public var objectCount: Int
    /// Whether the batch replaced everything. If so, pending changesets are now based on its tick.
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

/// Thrown if the frames that a device staged don't belong to the batch that ended. The device reconnects and gets the
/// batch again.
public struct StagedFramesMissing: Error, Hashable, Sendable {
    public let expected: Int
    public let found: Int

    public init(expected: Int, found: Int) {
        self.expected = expected
        self.found = found
    }
}
