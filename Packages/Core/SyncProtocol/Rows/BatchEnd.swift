public import TomboloChangesets

/// Ends a batch: the device applies its frames and stands at this position afterwards.
public struct BatchEnd: Hashable, Sendable {
    public var position: Position
    /// The server's clock when the tick was made.
    public var serverTime: Stamp
    /// Every changeset up to this number has its outcome in the database as of the tick; 0 where nothing new is known.
    public var acknowledged: Int64
    /// Changesets up to `acknowledged` that were refused.
    public var refusals: [RefusedChangeset]
    /// The batch is everything that the device may have: what it does not name is removed.
    public var replacesAll: Bool
    /// How many frames the batch has; a device that staged another number discards them and reconnects.
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

/// A changeset that the server did not accept.
public struct RefusedChangeset: Hashable, Sendable {
    public let number: Int64
    public let refusal: Refusal

    public init(number: Int64, refusal: Refusal) {
        self.number = number
        self.refusal = refusal
    }
}
