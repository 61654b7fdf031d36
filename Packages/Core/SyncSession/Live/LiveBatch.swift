public import TomboloChangesets

/// What one session has to be sent for a tick.
public struct LiveBatch: Sendable {
    public let tick: Tick
    /// Nil if the tick only concerns the outcomes of the client's own changesets.
    public let frames: SharedFrames?
    /// The progress of the client's changesets at the tick, with only the new refusals; nil if there is no progress.
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

/// The frames of one tick for all devices that share a view, made and encoded once.
public struct SharedFrames: Sendable {
    /// Encoded ``TomboloSyncProtocol/ServerMessage/frame(_:)`` messages, in order.
    public let messages: [[UInt8]]
    /// The classes of the rows in messages that exceed the maximum message size. Each such message has a single row
    /// that the device can never receive. Nil if every message fits.
    public let oversized: Set<String>?

    public init(messages: [[UInt8]], oversized: Set<String>? = nil) {
        self.messages = messages
        self.oversized = oversized
    }
}
