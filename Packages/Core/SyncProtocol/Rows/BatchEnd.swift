public import TomboloChangesets

/// Ends a batch. The device applies the batch's frames and is then at this position.
public struct BatchEnd: Hashable, Sendable {
    /// The device's position after the batch.
    public var position: Position
    /// The server's clock when the tick was made.
    public var serverTime: Stamp
    /// The outcomes of all changesets up to this number are in the database as of the tick. 0 if there is nothing new.
    public var acknowledged: Int64
    /// The refusals for changesets up to `acknowledged`. Each is sent once.
    public var refusals: [RefusedWrite]
    /// Whether the batch has everything that the device may have. If so, the device removes all objects that it doesn't
    /// contain.
    public var replacesAll: Bool
    /// The number of frames in the batch. A device that has staged a different number discards them and reconnects.
    public var frameCount: Int
    /// For tracing: the spans of uploads whose changes are in the batch, as W3C `traceparent` lines.
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

    /// Joins the end of the next batch. The two are then one batch that leads from the start of the first to the end of
    /// the second. Neither may replace everything.
    public mutating func join(_ next: BatchEnd) {
        position = next.position
        serverTime = next.serverTime
        acknowledged = max(acknowledged, next.acknowledged)
        refusals += next.refusals
        frameCount += next.frameCount
        traceparents += next.traceparents
    }
}

/// A write that the server refused. Whatever no refusal of its changeset names was applied. A refusal that names no
/// object may be about the whole changeset.
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
