/// The bounds of a gateway's sessions.
public struct SessionLimits: Sendable {
    /// The most devices that bootstrap or catch up at once; the others wait.
    public var concurrentReads = Gateway.maximumConcurrentReads
    /// How often an open session looks up what its user may see and do, give or take a quarter. This is how soon a
    /// removed role, a trashed user or an expired token takes effect.
    public var authorityInterval = Duration.seconds(60)
    /// How long a session continues with what it knew while the database doesn't answer.
    public var authorityPatience = Duration.seconds(300)
    /// A device has to reconnect if it keeps a batch that is being read for it waiting for this long, and takes less
    /// than ``minimumProgressByteCount`` in that time. More than a minute, because a device may well stall for one.
    /// If others are waiting, it loses its turn much sooner, but not its connection.
    public var writeStallLimit = Duration.seconds(75)
    public var minimumProgressByteCount = 64 << 10
    /// A device that was silent for this long is pinged with the next heartbeat. Devices themselves ping more often.
    public var pingDelay = Duration.seconds(45)
    /// After this long without any frame from the device, the connection counts as dead.
    public var silenceLimit = Duration.seconds(90)

    /// How long a device may take to open its session before heartbeats count against it. Zero, except in tests that
    /// may stall.
    var openingGrace = Duration.zero
    /// A session that has to move ends if it can't do so within this time, not counting a batch that is being read
    /// for it.
    var moveTimeLimit = Duration.seconds(30)

    /// When the gateway shuts down, its devices are disconnected gradually over this time.
    public var drainTime = Duration.seconds(1)

    public init() {}
}
