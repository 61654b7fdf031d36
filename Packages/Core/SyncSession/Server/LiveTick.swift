public import TomboloChangesets
internal import TomboloModel
public import TomboloSyncProtocol

/// A tick with everything that happened since the previous one. Each gateway reads it once for all its sessions.
public struct LiveTick: Sendable {
    public let tick: Tick
    /// The tick that the difference starts from.
    public let previous: Int64
    public let difference: TickDifference
    /// The progress at the tick for the clients in the difference, with only the refusals that are new since
    /// ``previous``.
    public let progress: [ClientID: ClientProgress]
    /// For tracing: the spans of the tick's writers.
    public var traceparents: [String] = []

    public init(tick: Tick, previous: Int64, difference: TickDifference, progress: [ClientID: ClientProgress]) {
        self.tick = tick
        self.previous = previous
        self.difference = difference
        self.progress = progress
    }

    /// The number of changed objects and refusals, for limits on how much is kept.
    public var itemCount: Int { progress.values.reduce(difference.changes.count) { $0 + $1.refusals.count } }

    /// The approximate size of the tick in memory, in bytes.
    public var byteCount: Int {
        progress.values.reduce(difference.byteCount) { $0 + $1.refusals.reduce(0) { $0 + $1.byteCount } }
    }
}

extension RefusedWrite {
    /// The approximate size in memory or in a message, in bytes.
    var byteCount: Int {
        96 + (refusal.role?.utf8.count ?? 0) + refusal.message.utf8.count + (refusal.className?.utf8.count ?? 0)
            + (refusal.key?.byteCount ?? 0)
    }
}
