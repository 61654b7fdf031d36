public import TomboloChangesets

/// Ends a batch: the device applies its frames and is then at this position.
public struct BatchEnd: Hashable, Sendable {
    /// The device's position after the batch.
    public var position: Position
    /// The server's clock when the tick was made.
    public var serverTime: Stamp
    /// The outcomes of all changesets up to this number are in the database as of the tick; 0 if nothing new is known.
    public var acknowledged: Int64
    /// The refused changesets among those up to `acknowledged`, each sent once.
    public var refusals: [RefusedChangeset]
    /// Whether the batch is everything the device may have, so that objects it doesn't name are removed.
    public var replacesAll: Bool
    /// The number of frames in the batch. A device that staged a different number discards them and reconnects.
    public var frameCount: Int

    public init(
        position: Position, serverTime: Stamp, acknowledged: Int64, refusals: [RefusedChangeset] = [],
        replacesAll: Bool = false, frameCount: Int
    ) {
        self.position = position
        self.serverTime = serverTime
        self.acknowledged = acknowledged
        self.refusals = refusals
        self.replacesAll = replacesAll
        self.frameCount = frameCount
    }
}

/// A changeset that the server didn't accept.
public struct RefusedChangeset: Hashable, Sendable {
    /// The changeset's number.
    public let number: Int64
    /// Why it was refused.
    public let refusal: Refusal

    public init(number: Int64, refusal: Refusal) {
        self.number = number
        self.refusal = refusal
    }
}
