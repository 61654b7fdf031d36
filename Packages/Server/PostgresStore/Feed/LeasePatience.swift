/// How long a lease a sequencer asks for. One that PostgreSQL took for frozen and that goes on all the same was only slow:
/// its machine has no processor time to spare, and with a lease as short as before it would lose that as well, and make no
/// ticks at all.
struct LeasePatience: Equatable {
    /// Shorter than ``SequencerLease/snapshotDuration``, so that the newest snapshot outlives the lease.
    static let limit = Duration.seconds(8)
    /// How long nothing must have been lost until the lease is as short as at first.
    static let calm = Duration.seconds(60)

    /// What PostgreSQL shall allow of silence on the connection that holds the lock.
    private(set) var duration = SequencerLease.duration
    private var silentAt: ContinuousClock.Instant?

    enum Event {
        /// A lease was lost because nothing was heard for so long, and the process lives.
        case silence
        /// PostgreSQL answered in time.
        case heard
    }

    mutating func handle(_ event: Event, at now: ContinuousClock.Instant) {
        switch event {
        case .silence:
            duration = min(duration * 2, Self.limit)
            silentAt = now
        case .heard:
            guard let silentAt, now - silentAt >= Self.calm else { return }
            self = LeasePatience()
        }
    }
}
