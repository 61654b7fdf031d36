/// The bounds of a gateway's sessions.
public struct SessionLimits: Sendable {
    /// Devices that bootstrap or catch up at once; the others wait.
    public var concurrentReads = Gateway.maximumConcurrentReads
    /// How often it is looked up what an open session's user may see and do, give or take a quarter: how soon a removed
    /// role, a trashed user or an expired token takes effect.
    public var authorityInterval = Duration.seconds(60)
    /// A session goes on so long with what was known, where the database does not answer.
    public var authorityPatience = Duration.seconds(300)
    /// A device that lets a batch which is read for it wait so long, and takes less than
    /// ``minimumProgressByteCount`` meanwhile, has to connect again. Longer than a minute, which a device may well stand
    /// still. Where others wait, it loses its turn much sooner, but not its connection.
    public var writeStallLimit = Duration.seconds(75)
    public var minimumProgressByteCount = 64 << 10
    /// Without any frame from the device for so long, the connection counts as dead.
    public var silenceLimit = Duration.seconds(90)

    public init() {}
}
