import ArgumentParser

/// What a hostile connection does.
enum HostileKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Wants everything, and reads a byte a second.
    case slowReaders = "readers at 1 B/s"
    /// Half a request or half a hello, and then nothing.
    case halfOpen = "half-open sockets"
    /// Wants everything, reads nothing, and comes again after some seconds.
    case stalledBootstraps = "stalled bootstraps"
    /// Asks for 1,000 other queries whenever it has the answer to the ones before.
    case subscriptions = "1,000 subscriptions changed in a loop"
    /// The same with a query that searches every text a hundred times.
    case predicates = "expensive predicates"
    /// As large a hello as is allowed, again and again.
    case hellos = "large hellos"
    /// Uploads new objects without waiting for outcomes.
    case uploads = "upload floods"
}
