public import TomboloChangesets
internal import TomboloModel
public import TomboloSyncProtocol

/// A tick with all that happened since the one before: read once for each gateway, used by all its sessions.
public struct LiveTick: Sendable {
    public let tick: Tick
    /// The tick that the difference starts from.
    public let previous: Int64
    public let difference: TickDifference
    /// Progress as of the tick, of the clients in the difference, with the refusals that are new since ``previous``.
    public let progress: [ClientID: ClientProgress]
    /// For tracing: the spans of its writers.
    public var traceparents: [String] = []

    public init(tick: Tick, previous: Int64, difference: TickDifference, progress: [ClientID: ClientProgress]) {
        self.tick = tick
        self.previous = previous
        self.difference = difference
        self.progress = progress
    }

    /// What the tick counts as where only so much may be kept: changed objects and refusals.
    public var itemCount: Int { progress.values.reduce(difference.changes.count) { $0 + $1.refusals.count } }

    /// Roughly what the tick takes in memory, in bytes.
    public var byteCount: Int {
        progress.values.reduce(difference.byteCount) { $0 + $1.refusals.reduce(0) { $0 + $1.byteCount } }
    }
}

extension RefusedWrite {
    /// Roughly what it takes in memory or in a message, in bytes.
    var byteCount: Int {
        96 + (refusal.role?.utf8.count ?? 0) + refusal.message.utf8.count + (refusal.className?.utf8.count ?? 0)
            + (refusal.key?.byteCount ?? 0)
    }
}
