public import Logging
public import PostgresClient
public import TomboloChangesets

/// Makes ticks. Any number of processes may run one; a ``ServiceLock`` elects the one that works, and another takes over
/// when its session ends. PostgreSQL ends it too when the process is frozen or cut off: see ``SequencerLease``.
///
/// A tick is committed synchronously before anybody hears of it: the same commit makes everything durable that the
/// tick's snapshot sees, also what its writers committed asynchronously.
///
/// State: `holder` holds the lock and does nothing else; `writer` inserts ticks; `spare` looks for changes; when there
/// are some, see ``ChangeWatch``, it exports a snapshot and moves to `exporters`, where its transaction stays open for readers to import.
/// While it runs, a second task is heard on `holder` and the newest exporter, whatever the first is waiting for.
public actor Sequencer {
    /// How long after a tick it is looked for the next one's changes, unless somebody says that there are some.
    public static let tickInterval = Duration.milliseconds(10)
    /// How often a sequencer that is not elected tries again.
    public static let electionInterval = Duration.milliseconds(250)
    /// How long a snapshot can be read after a newer tick was made, where ``exporterLimit`` permits.
    public static let snapshotLifetime = Duration.seconds(1)
    /// Snapshots kept open at once.
    public static let exporterLimit = 12
    /// Connections to PostgreSQL at once: those that keep snapshots, and the holder's, the writer's and the spare one.
    public static let maximumConnectionCount = exporterLimit + 3
    /// A snapshot that nothing followed is replaced by a new tick, lest it keep VACUUM from its work.
    public static let maximumSnapshotAge = Duration.seconds(60)
    /// How often it is looked whether somebody waits for the newest snapshot to end, such as `CREATE INDEX CONCURRENTLY`.
    public static let waiterInterval = Duration.milliseconds(250)
    /// How long to wait after an error, at first and at most.
    public static let errorDelays = (first: Duration.milliseconds(50), last: Duration.seconds(2))
    /// The channel on which each tick's number is sent.
    public static let channel = "tombolo_tick"
    /// Positions kept for finding out where a tick's changes begin.
    static let positionLimit = 4_096

    private struct Exporter {
        let connection: PostgresConnection
        let processID: Int
        let since: ContinuousClock.Instant
    }

    /// Where the changelog's sequence stood before a transaction number was given.
    private struct Position {
        let xid: UInt64
        let sequence: Int64
    }

    private let configuration: PostgresConfiguration
    /// ``maximumSnapshotAge``, for tests of what comes before it.
    private let snapshotAge: Duration
    private let onTick: @Sendable (Int64) -> Void
    private let logger: Logger
    private let clock = ContinuousClock()
    private let wakeUp = WakeUp()

    /// Whether ``run()`` is under way, which keeps the lease.
    private var isRunning = false
    /// From the lock until it is given up.
    private var lease: SequencerLease?
    /// When PostgreSQL last answered on ``holder``.
    private var heardAt: ContinuousClock.Instant?
    private var patience = LeasePatience()
    /// Ticks that this process has made.
    private var tickCount = 0
    private var holder: PostgresConnection?
    private var writer: PostgresConnection?
    /// Asks for the lock until it gets it, and is the holder then.
    private var candidate: PostgresConnection?
    private var isMakingTick = false
    private var spare: PostgresConnection?
    private var exporters: [Exporter] = []
    /// When it was last looked whether somebody waits for a snapshot.
    private var lookedForWaitersAt: ContinuousClock.Instant?
    private var last: StoredTick?
    /// What could be seen when it was last looked for changes and there were none.
    private var seenWithoutChanges = ""
    private var positions: [Position] = []

    /// - Parameter onTick: called with the number of each tick once it's committed, for those that PostgreSQL's
    ///   notifications don't reach. Must not block.
    public init(
        configuration: PostgresConfiguration, onTick: @escaping @Sendable (Int64) -> Void = { _ in },
        logger: Logger = Logger(label: "tombolo.sequencer")
    ) {
        self.init(
            configuration: configuration, snapshotAge: Self.maximumSnapshotAge, onTick: onTick, logger: logger)
    }

    /// - Parameter snapshotAge: instead of ``maximumSnapshotAge``.
    init(
        configuration: PostgresConfiguration, snapshotAge: Duration,
        onTick: @escaping @Sendable (Int64) -> Void = { _ in }, logger: Logger = Logger(label: "tombolo.sequencer")
    ) {
        var configuration = configuration
        configuration.applicationName = "tombolo-sequencer"
        self.configuration = configuration
        self.snapshotAge = snapshotAge
        self.onTick = onTick
        self.logger = logger
    }

    // MARK: Running

    /// Takes part in the election and, once elected, makes ticks until the task is cancelled.
    public func run() async {
        isRunning = true
        await withDiscardingTaskGroup { group in
            group.addTask { await self.keepLease() }
            await makeTicks()
            group.cancelAll()
        }
        await resign()
        isRunning = false
    }

    private func makeTicks() async {
        var pace = SequencerPace()
        while !Task.isCancelled {
            do {
                let tick = try await makeTick()
                let delay = pace.delay(after: .worked)
                if tick == nil, !wakeUp.isPending, let spare, let last {
                    try await ChangeWatch.wait(on: spare, beyond: last)
                } else {
                    await wakeUp.wait(delay)
                }
            } catch is CancellationError {
                break
            } catch let error as PostgresStoreError where error.code == .notElected {
                await wakeUp.wait(pace.delay(after: .notElected))
            } catch {
                let delay = pace.delay(after: .failed)
                logger.warning("The sequencer starts over in \(delay): \(error)")
                await resign()
                try? await Task.sleep(for: delay)
            }
        }
    }

    /// Lets PostgreSQL hear of this process on the connections that it would end otherwise. Apart from the making of
    /// ticks, which may wait for the disk longer than the lease lasts.
    private func keepLease() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: SequencerLease.renewalInterval)
            guard let holder else { continue }
            let exporter = exporters.last
            do {
                let before = patience.duration
                patience.handle(.heard, at: clock.now)
                if patience.duration == before {
                    try await ServiceLock.check(holder)
                } else {
                    try await ServiceLock.renew(holder, lease: patience.duration)
                }
                heardAt = clock.now
                try await exporter?.connection.execute("SELECT 1")
            } catch {
                // A tick that is made meanwhile may have recycled the exporter, or resigned.
                guard self.holder === holder, exporter?.processID == exporters.last?.processID, !Task.isCancelled else {
                    continue
                }
                logger.debug("The sequencer's lease can't be renewed: \(error)")
                lease?.handle(.renewalFailed)
                wakeUp.wake()
            }
        }
    }

    /// Whether this process makes the ticks, since when its lease has not been renewed, and how many ticks it has made.
    public var status: (isElected: Bool, leaseAge: Duration?, tickCount: Int) {
        (lease != nil, lease == nil ? nil : heardAt.map { clock.now - $0 }, tickCount)
    }

    /// Says that something was committed: the next look comes at once. May be called from any thread.
    nonisolated public func nudge() { wakeUp.wake() }

    /// Gives the lock and all snapshots up. ``makeTick()`` would run for election again.
    public func resign() async {
        if isRunning, lease != nil, let heardAt, clock.now - heardAt >= patience.duration {
            patience.handle(.silence, at: clock.now)
        }
        let connections = [holder, writer, candidate, spare].compactMap { $0 } + exporters.map(\.connection)
        lease = nil
        holder = nil
        writer = nil
        candidate = nil
        spare = nil
        exporters = []
        last = nil
        seenWithoutChanges = ""
        positions = []
        for connection in connections { await connection.close() }
    }

    // MARK: Election

    private func elect() async throws -> (holder: PostgresConnection, writer: PostgresConnection) {
        if let holder, let writer { return (holder, writer) }
        let winner: PostgresConnection
        if let candidate {
            winner = candidate
        } else {
            winner = try await connect()
        }
        candidate = nil
        let isElected: Bool
        do {
            isElected = try await ServiceLock.sequencer.take(winner, lease: isRunning ? patience.duration : nil)
        } catch {
            await winner.close()
            throw error
        }
        guard isElected else {
            candidate = winner
            throw PostgresStoreError(.notElected, "Another process is the sequencer of this database.")
        }
        // From here on it has to be heard.
        (holder, lease, heardAt) = (winner, SequencerLease(), clock.now)
        let connection: PostgresConnection
        do {
            connection = try await connect()
        } catch {
            await resign()
            throw error
        }
        do {
            try await connection.execute("SET synchronous_commit = on")
            lease?.handle(.counted(epoch: try await count(connection)))
            if try await ForeignChangelog.remove(connection) {
                logger.warning(
                    """
                    The changelog was dumped in another PostgreSQL cluster, whose transaction numbers are ahead of this \
                    one's. It was emptied, and a new history begins: every device starts over with its next connection.
                    """)
            }
            last = try await StoredTick.latest(connection)
            positions = try await connection.query(
                "SELECT xid::text, position FROM tombolo.tick ORDER BY number DESC LIMIT 64"
            ).reversed().map { row in
                guard let xid = UInt64(try row[0].string) else {
                    throw PostgresStoreError(.corrupt, "The transaction number of a tick is not readable.")
                }
                return Position(xid: xid, sequence: try row[1].int64)
            }
        } catch {
            await connection.close()
            await resign()
            throw error
        }
        logger.debug("Elected as the sequencer, after tick \(last?.tick.number ?? 0)")
        writer = connection
        return (winner, connection)
    }

    /// Counts the election, before the newest tick is looked up: from here on no other process's tick is accepted. Waits
    /// for one that is being inserted at this moment.
    private func count(_ connection: PostgresConnection) async throws -> Int64 {
        do {
            let rows = try await connection.query("UPDATE tombolo.sequencer SET epoch = epoch + 1 RETURNING epoch")
            guard let row = rows.first else {
                throw PostgresStoreError(.corrupt, "'tombolo.sequencer' has lost its row. Run the migration tool.")
            }
            return try row[0].int64
        } catch let error as PostgresError where error.code == .undefinedTable {
            throw PostgresStoreError(.schema, "The database lacks 'tombolo.sequencer'. Run the migration tool.")
        }
    }

    /// A connection that doesn't outlive a frozen process for long.
    private func connect() async throws -> PostgresConnection {
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        guard isRunning else { return connection }
        do {
            try await connection.execute(
                "SET idle_session_timeout = \(SequencerLease.connectionDuration.milliseconds)")
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    // MARK: Making ticks

    /// Makes a tick if something changed since the last, if readers have none that they could read, if the last is old,
    /// or if somebody waits for its snapshot to end.
    /// - Throws: ``PostgresStoreError`` `.notElected` where another process is the sequencer.
    public func makeTick() async throws -> Tick? {
        // A call while another is under way: that one makes the tick.
        guard !isMakingTick else { return nil }
        isMakingTick = true
        defer { isMakingTick = false }
        let (holder, writer) = try await elect()
        do {
            return try await makeTick(holder, writer)
        } catch {
            // After any failure the state of the connections is unknown; the election decides anew.
            if let error = error as? PostgresStoreError, error.code == .notElected { logger.notice("\(error)") }
            await resign()
            throw error
        }
    }

    /// A snapshot that readers can import.
    private struct Export {
        let snapshot: Snapshot
        let position: Int64
        let time: Int64
        let name: String
        /// The server process that keeps it.
        let processID: Int
    }

    private func makeTick(_ holder: PostgresConnection, _ writer: PostgresConnection) async throws -> Tick? {
        guard let epoch = try lease?.epoch() else { return nil }
        let now = clock.now
        releaseOldExporters(now)
        let isNeeded = exporters.last.map { now - $0.since >= snapshotAge } ?? true
        let connection = try await lookingConnection()
        if !isNeeded {
            var isWanted = try await isChanged(connection)
            if !isWanted { isWanted = try await isWaitedFor(connection, now) }
            guard isWanted else { return nil }
        }
        // A lock that was lost makes room for another sequencer. Should that one be elected meanwhile, the insertion
        // below finds a newer epoch.
        async let isHeld: Void = ServiceLock.check(holder)
        let export = try await export(connection)
        try await isHeld
        let firstSequence = firstSequence(of: export.snapshot)
        let tick = Tick(
            number: (last?.tick.number ?? 0) + 1, token: Int64.random(in: 1 ... .max), snapshot: export.snapshot,
            time: Stamp(microseconds: max(export.time, last?.tick.time.microseconds ?? 0)))
        // The row of the epoch is locked until the tick is committed: an election is counted before, and refuses it, or
        // after, and sees it.
        let inserted = try await writer.query(
            """
            WITH fence AS (SELECT FROM tombolo.sequencer WHERE epoch = $8 FOR SHARE), \
            made AS (INSERT INTO tombolo.tick (number, token, snapshot, exported, time, position, first_seq) \
            SELECT $1, $2, $3::pg_snapshot, $4, $5, $6, $7 FROM fence RETURNING xid) \
            SELECT xid::text, pg_notify($9, $10) FROM made
            """,
            [
                .int64(tick.number), .int64(tick.token), .untyped(tick.snapshot.description), .text(export.name),
                .int64(tick.time.microseconds), .int64(export.position), .int64(firstSequence), .int64(epoch),
                .text(Self.channel), .text(String(tick.number)),
            ])
        guard let row = inserted.first else {
            lease?.handle(.tickRefused)
            _ = try lease?.epoch()
            return nil
        }
        guard let xid = UInt64(try row[0].string) else {
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a transaction number that cannot be read.")
        }
        remember(Position(xid: xid, sequence: export.position))
        tickCount += 1
        last = StoredTick(tick: tick, exported: export.name, firstSequence: firstSequence)
        spare = nil
        exporters.append(Exporter(connection: connection, processID: export.processID, since: clock.now))
        onTick(tick.number)
        return tick
    }

    /// Whether anything was committed that the last tick does not see, in one round trip and with nothing left open.
    private func isChanged(_ connection: PostgresConnection) async throws -> Bool {
        let known = last?.tick.snapshot ?? .empty
        var statements: [PostgresStatement] = []
        if connection.transactionStatus != .idle { statements.append("ROLLBACK") }
        statements.append(
            StoredTick.hasChanges(beyond: known, after: last?.firstSequence ?? -1, sinceSeeing: seenWithoutChanges))
        let results = try await connection.pipeline(statements)
        guard let row = results.last?.first else { return false }
        let isChanged = try row[1].bool
        seenWithoutChanges = isChanged ? "" : try row[0].string
        return isChanged
    }

    /// Whether somebody waits for the newest snapshot to end, as `CREATE INDEX CONCURRENTLY` waits for all that are older
    /// than its index. A new tick takes the snapshot's place, which then ends.
    private func isWaitedFor(_ connection: PostgresConnection, _ now: ContinuousClock.Instant) async throws -> Bool {
        guard let newest = exporters.last, lookedForWaitersAt.map({ now - $0 >= Self.waiterInterval }) ?? true else {
            return false
        }
        lookedForWaitersAt = now
        let answer = try await connection.query(
            """
            SELECT EXISTS (SELECT 1 FROM pg_locks AS held JOIN pg_locks AS wanted \
            ON wanted.locktype = 'virtualxid' AND wanted.virtualxid = held.virtualxid AND NOT wanted.granted \
            WHERE held.locktype = 'virtualxid' AND held.granted AND held.pid = $1)
            """, [.int64(Int64(newest.processID))])
        return try answer[0, 0].bool
    }

    /// Opens the transaction that stays open. It touches no table: its locks would be in the way of retention.
    private func export(_ connection: PostgresConnection) async throws -> Export {
        var statements: [PostgresStatement] = []
        if connection.transactionStatus != .idle { statements.append("ROLLBACK") }
        let silence = isRunning ? SequencerLease.snapshotDuration.milliseconds : 0
        statements += [
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            PostgresStatement("SET LOCAL idle_in_transaction_session_timeout = \(silence)"),
            """
            SELECT pg_current_snapshot()::text, \
            (SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM tombolo.changelog_seq), \
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, pg_export_snapshot(), pg_backend_pid()
            """,
        ]
        let results = try await connection.pipeline(statements)
        guard let row = results.last?.first, let snapshot = Snapshot(text: try row[0].string) else {
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a snapshot that is not readable.")
        }
        return Export(
            snapshot: snapshot, position: try row[1].int64, time: try row[2].int64, name: try row[3].string,
            processID: try row[4].int)
    }

    private func lookingConnection() async throws -> PostgresConnection {
        if let spare { return spare }
        if exporters.count >= Self.exporterLimit {
            let connection = exporters.removeFirst().connection
            spare = connection
            return connection
        }
        let connection = try await connect()
        spare = connection
        // The planner thinks that a third of a table without statistics lies beyond any bound, and would read it all.
        // The cost of what cannot do without such a scan would then start the compiler. One plan does for all glances.
        try await connection.execute(
            "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan")
        return connection
    }

    /// The newest snapshot stays: everybody reads it.
    private func releaseOldExporters(_ now: ContinuousClock.Instant) {
        while exporters.count > 1, now - exporters[1].since >= Self.snapshotLifetime {
            let released = exporters.removeFirst().connection
            if spare == nil { spare = released } else { Task { await released.close() } }
        }
    }

    // MARK: Where a tick's changes begin

    /// A lower bound for the sequence numbers of all changes that a snapshot does not see.
    ///
    /// Such a change belongs to a transaction that is not below the snapshot's xmin. If a position was taken before a
    /// transaction number below that xmin was given, the change's own transaction number was given after the position
    /// was taken, and its sequence number after that.
    private func firstSequence(of snapshot: Snapshot) -> Int64 {
        let known = last?.firstSequence ?? -1
        guard let index = positions.lastIndex(where: { $0.xid < snapshot.xmin }) else { return known }
        let found = positions[index].sequence
        positions.removeFirst(index)
        return max(known, found)
    }

    private func remember(_ position: Position) {
        positions.append(position)
        guard positions.count > Self.positionLimit else { return }
        // A transaction is running for very long: every second position serves as well.
        positions = positions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
}
