public import TomboloChangesets

/// Ends a batch: the device applies its frames and is then at this position.
public struct BatchEnd: Hashable, Sendable {
    /// The device's position after the batch.
    public var position: Position
    /// The server's clock when the tick was made.
    public var serverTime: Stamp
    /// The outcomes of all changesets up to this number are in the database as of the tick; 0 if nothing new is known.
    public var acknowledged: Int64
    /// What of the changesets up to `acknowledged` was refused, each sent once.
    public var refusals: [RefusedWrite]
    /// Whether the batch is everything the device may have, so that objects it doesn't name are removed.
    public var replacesAll: Bool
    /// The number of frames in the batch. A device that staged a different number discards them and reconnects.
    public var frameCount: Int
    /// For tracing: the spans of uploads whose changes are in the batch, as lines of W3C's `traceparent`.
    public var traceparents: [String]

    public init(
        position: Position, serverTime: Stamp, acknowledged: Int64, refusals: [RefusedWrite] = [],
        replacesAll: Bool = false, frameCount: Int, traceparents: [String] = []
    ) {
        self.position = position
        self.serverTime = serverTime
        self.acknowledged = acknowledged
        self.refusals = refusals
        self.replacesAll = replacesAll
        self.frameCount = frameCount
        self.traceparents = traceparents
    }

    /// Joins the end of the batch that follows: both batches are one then, which brings the device from where the first
    /// began to where the second ends. Neither may replace everything.
    public mutating func join(_ next: BatchEnd) {
        position = next.position
        serverTime = next.serverTime
        acknowledged = max(acknowledged, next.acknowledged)
        refusals += next.refusals
        frameCount += next.frameCount
        traceparents += next.traceparents
    }
}

/// A write of a changeset that the server didn't accept. What of the changeset no refusal names was applied; a refusal
/// that names no object may be about the whole changeset.
public struct RefusedWrite: Hashable, Sendable {
    /// The changeset's number.
    public let number: Int64
    /// Why it was refused.
    public let refusal: Refusal

    public init(number: Int64, refusal: Refusal) {
        self.number = number
        self.refusal = refusal
    }
}
