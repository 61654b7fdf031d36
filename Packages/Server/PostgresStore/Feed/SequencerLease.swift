/// How long an elected sequencer may be silent, and under which epoch its ticks are accepted.
///
/// PostgreSQL enforces the lease: it ends the session that holds ``ServiceLock/sequencer`` when nothing arrives on it
/// for ``duration``. A frozen or disconnected process thus gives way although its connection still exists. That needs
/// no writes and compares no clocks. The epoch is a fencing token: each election increments it, and a tick is
/// inserted only if its own epoch is still the newest. A tick that a frozen process had in flight is refused, even
/// before the successor has made one.
struct SequencerLease: Equatable {
    /// How long PostgreSQL may hear nothing on the connection that holds the lock. Applies to a process that was
    /// never silent for longer; see ``LeasePatience``.
    static let duration = Duration.seconds(1)
    /// How often an elected sequencer sends something: several times within ``duration``.
    static let renewalInterval = Duration.milliseconds(200)
    /// How long PostgreSQL may hear nothing on a connection that keeps a snapshot for readers. Longer than
    /// ``duration``, so that readers can use the newest tick until the successor has made another.
    static let snapshotDuration = Duration.seconds(10)
    /// How long PostgreSQL may hear nothing on the other connections, which hold nothing.
    static let connectionDuration = Duration.seconds(300)

    enum State: Equatable {
        /// Has the lock but no epoch yet. Next: elected, lost.
        case locked
        /// May make ticks. Next: lost.
        case elected(epoch: Int64)
        /// Makes no more ticks; the sequencer resigns and stands for election again. Final.
        case lost(Loss)
    }

    enum Loss: Equatable {
        /// PostgreSQL ended a session that must stay open, or the connection broke.
        case session
        /// Another process has a newer epoch.
        case epoch
    }

    enum Event {
        /// The election was counted.
        case counted(epoch: Int64)
        /// PostgreSQL didn't answer on a connection that must stay open.
        case renewalFailed
        /// A tick was refused because its epoch isn't the newest.
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
        case .locked: throw PostgresStoreError(.notElected, "This sequencer's election hasn't been counted yet.")
        case .lost(.session):
            throw PostgresStoreError(
                .notElected,
                "PostgreSQL ended the sequencer's session, as it does after too long a silence. This process stands "
                    + "for election again, with a longer lease if it was only slow.")
        case .lost(.epoch):
            throw PostgresStoreError(
                .notElected,
                "Another process was elected as the sequencer, so this process's tick was refused. It stands for "
                    + "election again.")
        }
    }
}

extension Duration {
    /// For PostgreSQL's settings.
    var milliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
