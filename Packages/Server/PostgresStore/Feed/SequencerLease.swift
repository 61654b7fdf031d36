/// How long an elected sequencer may be silent, and under which number its ticks are accepted.
///
/// The lease is PostgreSQL's own: it ends the session that holds ``ServiceLock/sequencer`` when nothing arrives on it for
/// ``duration``, so that a process which is frozen or cut off makes room although its connection still stands. Nothing
/// is written for that, and no clocks are compared. The epoch is the fence: each election counts it up, and each tick is
/// inserted only where its own epoch is still the newest. A tick that a frozen process had under way is refused, even
/// before its successor has made one.
struct SequencerLease: Equatable {
    /// What PostgreSQL allows of silence on the connection that holds the lock, of a process that was never silent for
    /// longer; see ``LeasePatience``.
    static let duration = Duration.seconds(1)
    /// How often an elected sequencer is heard: several times before ``duration`` is over.
    static let renewalInterval = Duration.milliseconds(200)
    /// What PostgreSQL allows of silence on a connection that keeps a snapshot for readers. Longer than ``duration``:
    /// they can read the newest tick until the successor has made another.
    static let snapshotDuration = Duration.seconds(10)
    /// What PostgreSQL allows of silence on the other connections, which hold nothing.
    static let connectionDuration = Duration.seconds(300)

    enum State: Equatable {
        /// Has the lock and no epoch yet. Next: elected, lost.
        case locked
        /// May make ticks. Next: lost.
        case elected(epoch: Int64)
        /// Makes no more ticks; the sequencer resigns and stands for election anew. Final.
        case lost(Loss)
    }

    enum Loss: Equatable {
        /// PostgreSQL ended a session that has to be held, or the connection broke.
        case session
        /// Another process has a newer epoch.
        case epoch
    }

    enum Event {
        /// The election was counted.
        case counted(epoch: Int64)
        /// PostgreSQL didn't answer on a connection that has to be held.
        case renewalFailed
        /// A tick was not inserted, because its epoch is not the newest.
        case tickRefused
    }

    private(set) var state = State.locked

    mutating func handle(_ event: Event) {
        switch (state, event) {
        case (.lost, _): break
        case (.locked, .counted(let epoch)): state = .elected(epoch: epoch)
        case (.elected, .counted), (_, .tickRefused): state = .lost(.epoch)
        case (_, .renewalFailed): state = .lost(.session)
        }
    }

    /// - Throws: ``PostgresStoreError`` `.notElected` once the lease is lost.
    func epoch() throws -> Int64 {
        switch state {
        case .elected(let epoch): return epoch
        case .locked: throw PostgresStoreError(.notElected, "This sequencer's election has not been counted yet.")
        case .lost(.session):
            throw PostgresStoreError(
                .notElected,
                "PostgreSQL ended the sequencer's session, as it does when it hears nothing for too long. This process "
                    + "stands for election again, with a longer lease if it was only slow.")
        case .lost(.epoch):
            throw PostgresStoreError(
                .notElected,
                "Another process was elected as the sequencer, so that this one's tick was refused. It stands for "
                    + "election again.")
        }
    }
}

extension Duration {
    /// For PostgreSQL's settings.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
