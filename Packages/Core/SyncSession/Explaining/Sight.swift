public import TomboloModel

/// Whether a device should have an object, and what prevents it: the result of ``ServerSession/sight(of:classIndex:)``.
public struct Sight: Hashable, Sendable {
    /// In the order in which they're checked.
    public enum Obstacle: Hashable, Sendable {
        /// The session hasn't started reading batches, so what the device wants isn't known yet.
        case notOpen(ServerSession.State)
        /// The device's app version doesn't have this class.
        case classNotOnDevice
        /// No subscription selects this class.
        case notSubscribed
        /// There are subscriptions for this class, but the object satisfies none of them.
        case notMatched([Miss])
        /// The session has a partition, but objects of this class belong to none.
        case classWithoutPartition
        /// The object belongs to another partition than the session, according to the named column.
        case otherPartition(column: String, partition: Value)
        /// The rules don't let the user read the object. The predicate is the part of the user's read condition that it
        /// doesn't satisfy.
        case notReadable(Predicate)
    }

    /// A subscription that an object doesn't satisfy.
    public struct Miss: Hashable, Sendable {
        /// Nil for an unnamed subscription.
        public let name: String?
        public let predicate: Predicate
        /// The first part of the predicate that isn't satisfied.
        public let failure: Predicate
    }

    /// The session's own decision.
    public let isVisible: Bool
    /// Empty if and only if ``isVisible`` is true.
    public let obstacles: [Obstacle]
    /// Whether the object matches subscriptions that the device has requested and that wait for the current batch to end.
    public let isWanted: Bool
}

/// What keeps a property from a device that has the object.
public enum PropertyObstacle: Hashable, Sendable {
    /// The device's app version doesn't have this property.
    case notOnDevice
    /// The rules hide the property from the user. The device has nil, a zero or an empty list instead.
    case hidden
}
