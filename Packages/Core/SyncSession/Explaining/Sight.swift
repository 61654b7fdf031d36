public import TomboloModel

/// Whether a device is to have an object, and what stands in the way: the answer of ``ServerSession/sight(of:classIndex:)``.
public struct Sight: Hashable, Sendable {
    /// In the order in which they are looked for.
    public enum Obstacle: Hashable, Sendable {
        /// The session hasn't come to reading batches yet: nobody knows what the device wants.
        case notOpen(ServerSession.State)
        /// The device's version of the app has no such class.
        case classNotOnDevice
        /// No subscription is about the class.
        case notSubscribed
        /// The subscriptions that are about the class, none of which the object satisfies.
        case notMatched([Miss])
        /// The session is in a partition, and objects of the class are in none.
        case classWithoutPartition
        /// The session is in another partition than the object, whose column with this name says so.
        case otherPartition(column: String, partition: Value)
        /// The part of what the user may read that the object doesn't satisfy.
        case notReadable(Predicate)
    }

    /// A subscription that an object doesn't satisfy.
    public struct Miss: Hashable, Sendable {
        /// Nil for one without a name.
        public let name: String?
        public let predicate: Predicate
        /// The first part of it that isn't satisfied.
        public let failure: Predicate
    }

    /// What the session itself decides by.
    public let isVisible: Bool
    /// Empty exactly where ``isVisible``.
    public let obstacles: [Obstacle]
    /// Subscriptions that the device has asked for, and that wait for the batch under way, match the object.
    public let isWanted: Bool
}

/// What stands between a device and one property of an object that it has.
public enum PropertyObstacle: Hashable, Sendable {
    /// The device's version of the app has no such property.
    case notOnDevice
    /// The rules hide it from the user: the device has nil or a zero instead, or an empty list.
    case hidden
}
