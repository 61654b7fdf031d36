public import TomboloChangesets
public import TomboloModel
public import TomboloSyncProtocol

/// What operators are told of a session.
extension ServerSession {
    /// The phase, as metrics and the inspector name it.
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

    /// The newest tick that has been looked at.
    public var reached: Tick { tick }

    /// Whether the feed tells the session of every tick that concerns it.
    public var isFollowed: Bool { if case .yes = following { true } else { false } }

    /// A moment of the session.
    public struct Report: Sendable {
        public let state: State
        public let subscriptions: SubscriptionSet
        /// A set that waits for the batch under way.
        public let waitingSubscriptions: SubscriptionSet?
        /// The partition that the session is in; nil for a session by subscriptions.
        public let partition: Value?
        /// All that concerns the device up to this tick was sent, or found not to concern it.
        public let tick: Tick
        /// The tick of the last batch that was sent.
        public let sentTick: Int64
        /// Batches that the device has not said to have applied.
        public let unappliedCount: Int
        /// Whether the feed tells the session of ticks.
        public let isFollowing: Bool
        /// Whether the connection takes data.
        public let isWritable: Bool
        /// Changesets that wait for the upload under way, and those of it.
        public let waitingUploadCount: Int
        public let uploadingCount: Int
        /// The highest changeset that came on this connection, and the highest whose outcome was sent to the device.
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
