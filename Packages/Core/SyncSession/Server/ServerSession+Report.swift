public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// What operators are told about a session.
extension ServerSession {
    /// The phase, under the names that metrics and the inspector use.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case waiting
        case authenticating
        case opening
        case verifying
        case reading
        case live
        case closed
    }

    public var state: State {
        switch phase {
        case .waiting: .waiting
        case .authenticating: .authenticating
        case .opening: .opening
        case .verifying: .verifying
        case .reading: .reading
        case .live: .live
        case .closed: .closed
        }
    }

    /// The newest tick that the session has handled.
    public var reached: Tick { tick }

    /// Whether the feed tells the session of every tick that concerns it.
    public var isFollowed: Bool { if case .yes = following { true } else { false } }

    /// A session's state at one moment.
    public struct Report: Sendable {
        public let state: State
        public let subscriptions: SubscriptionSet
        /// A set that waits for the current batch to end.
        public let waitingSubscriptions: SubscriptionSet?
        /// The session's partition, or nil if the session uses subscriptions.
        public let partition: Value?
        /// Everything up to this tick was either sent to the device or doesn't concern it.
        public let tick: Tick
        /// The tick of the last batch sent.
        public let sentTick: Int64
        /// The number of batches that the device hasn't confirmed as applied.
        public let unappliedCount: Int
        /// Whether the feed tells the session of ticks.
        public let isFollowing: Bool
        /// Whether the connection accepts data.
        public let isWritable: Bool
        /// The number of changesets that wait for the current upload, and the number in that upload.
        public let waitingUploadCount: Int
        public let uploadingCount: Int
        /// The highest changeset received on this connection, and the highest whose outcome was sent to the device.
        public let received: Int64
        public let acknowledged: Int64
    }

    public var report: Report {
        Report(
            state: state, subscriptions: subscriptions, waitingSubscriptions: waitingSubscriptions,
            partition: authority?.partition?.value, tick: tick, sentTick: sentTick, unappliedCount: unapplied,
            isFollowing: following != .no, isWritable: isWritable, waitingUploadCount: waitingChangesets.count,
            uploadingCount: uploading.count, received: received, acknowledged: acknowledged)
    }
}
