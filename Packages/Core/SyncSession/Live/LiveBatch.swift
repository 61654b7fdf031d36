public import TomboloChangesets

/// What one tick means for one session.
public struct LiveBatch: Sendable {
    public let tick: Tick
    /// Nil where the tick only brings news of the client's own changesets.
    public let frames: SharedFrames?
    /// What the tick says of the client's changesets, with the refusals that are new; nil where it says nothing.
    public let progress: ClientProgress?
    /// For tracing: the spans of the tick's writers.
    public let traceparents: [String]

    public init(tick: Tick, frames: SharedFrames?, progress: ClientProgress? = nil, traceparents: [String] = []) {
        self.tick = tick
        self.frames = frames
        self.progress = progress
        self.traceparents = traceparents
    }
}

/// The frames of one tick for all devices with one view: made and encoded once.
public struct SharedFrames: Sendable {
    /// One encoded ``TomboloSyncProtocol/ServerMessage/frame(_:)`` each, in order.
    public let messages: [[UInt8]]
    /// The classes of the rows in a message that is larger than a message may be: a single row that the device can never
    /// take. Nil where every message fits.
    public let oversized: Set<String>?

    public init(messages: [[UInt8]], oversized: Set<String>? = nil) {
        self.messages = messages
        self.oversized = oversized
    }
}
