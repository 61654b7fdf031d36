/// The bounds of a gateway's sessions.
public struct SessionLimits: Sendable {
    /// Devices that bootstrap or catch up at once; the others wait.
    public var concurrentReads = Gateway.maximumConcurrentReads
    /// How often an open session looks up what its user may see and do, give or take a quarter: how soon a removed
    /// role, a trashed user or an expired token takes effect.
    public var authorityInterval = Duration.seconds(60)
    /// How long a session goes on with what it knew while the database doesn't answer.
    public var authorityPatience = Duration.seconds(300)
    /// A device has to connect again if it keeps a batch that is being read for it waiting this long, and takes less
    /// than ``minimumProgressByteCount`` meanwhile. More than a minute, since a device may well stall for one. If
    /// others are waiting, it loses its turn much sooner, but not its connection.
    public var writeStallLimit = Duration.seconds(75)
    public var minimumProgressByteCount = 64 << 10
    /// A device that was silent for this long is asked for a sign of life with the next heartbeat. Devices ping more often.
    public var pingDelay = Duration.seconds(45)
    /// Without any frame from the device for this long, the connection counts as dead.
    public var silenceLimit = Duration.seconds(90)

    /// How long a device may take to open its session before heartbeats count against it. None, but in tests that may stand
    /// still.
    var openingGrace = Duration.zero
    /// A session that has to move ends if it can't within this time, not counting a batch that is read for it.
    var moveTimeLimit = Duration.seconds(30)

    /// When the gateway shuts down, its devices are sent away within this time, not all at once.
    public var drainTime = Duration.seconds(1)

    public init() {}
}
