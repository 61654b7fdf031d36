import ArgumentParser

/// The behaviour of a hostile connection.
enum HostileKind: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// Wants everything, and reads one byte per second.
    case slowReaders = "readers at 1 B/s"
    /// Sends half a request or half a hello, and then nothing.
    case halfOpen = "half-open sockets"
    /// Wants everything, reads nothing, and reconnects after some seconds.
    case stalledBootstraps = "stalled bootstraps"
    /// Subscribes to 1,000 new queries whenever the previous ones are answered.
    case subscriptions = "1,000 subscriptions changed in a loop"
    /// The same, with a query that searches every text a hundred times.
    case predicates = "expensive predicates"
    /// Sends the largest allowed hello, again and again.
    case hellos = "large hellos"
    /// Uploads new objects without waiting for the outcomes.
    case uploads = "upload floods"
}
