/// Decides how long a lease a sequencer asks for. If PostgreSQL took a sequencer for frozen and it then goes on, it
/// was only slow: its machine is short of processor time. With another short lease it would lose that one too, and
/// never make a tick.
struct LeasePatience: Equatable {
    /// Shorter than ``SequencerLease/snapshotDuration``, so that the newest snapshot outlives the lease.
    static let limit = Duration.seconds(8)
    /// How long the sequencer must go without losing a lease before it returns to the initial, short one.
    static let calm = Duration.seconds(60)

    /// How long PostgreSQL may hear nothing on the connection that holds the lock.
    private(set) var duration = SequencerLease.duration
    private var silentAt: ContinuousClock.Instant?

    enum Event {
        /// A lease was lost because PostgreSQL heard nothing for too long, but the process is alive.
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
