public import TomboloChangesets
public import TomboloSyncProtocol

/// A tick with all that happened since the one before: read once for each gateway, used by all its sessions.
public struct LiveTick: Sendable {
    public let tick: Tick
    /// The tick that the difference starts from.
    public let previous: Int64
    public let difference: TickDifference
    /// Progress as of the tick, of the clients in the difference.
    public let progress: [ClientID: ClientProgress]

    public init(tick: Tick, previous: Int64, difference: TickDifference, progress: [ClientID: ClientProgress]) {
        self.tick = tick
        self.previous = previous
        self.difference = difference
        self.progress = progress
    }
}
