public import Logging
public import PostgresClient
public import TomboloChangesets

/// Makes ticks. Any number of processes may run one. A ``ServiceLock`` elects the process that works, and another
/// takes over when its session ends. PostgreSQL also ends the session when the process freezes or loses its network:
/// see ``SequencerLease``.
///
/// A tick is committed synchronously before anybody hears of it. The same commit makes everything durable that the
/// tick's snapshot sees, including what its writers committed asynchronously.
///
/// State: `holder` holds the lock and does nothing else; `writer` inserts ticks; `spare` looks for changes, see
/// ``ChangeWatch``. When there are changes, `spare` exports a snapshot and moves to `exporters`, where its
/// transaction stays open for readers to import. Meanwhile a second task keeps `holder` and the newest exporter
/// alive, whatever the first one is waiting for.
public actor Sequencer {
    /// How long after a tick to look for the next changes, unless a caller reports some earlier.
    public static let tickInterval = Duration.milliseconds(10)
    /// How often a sequencer that isn't elected retries.
    public static let electionInterval = Duration.milliseconds(250)
    /// How long a snapshot stays readable after a newer tick was made, within ``exporterLimit``.
    public static let snapshotLifetime = Duration.seconds(1)
    /// The most snapshots kept open at once.
    public static let exporterLimit = 12
    /// The most PostgreSQL connections at once: one for each open snapshot, plus the holder, the writer and the
    /// spare.
    public static let maximumConnectionCount = exporterLimit + 3
    /// If nothing changes for this long, a new tick replaces the snapshot, because an old snapshot holds back VACUUM.
    public static let maximumSnapshotAge = Duration.seconds(60)
    /// How often to check whether another transaction waits for the newest snapshot to end, as `CREATE INDEX
    /// CONCURRENTLY` does.
    public static let waiterInterval = Duration.milliseconds(250)
    /// How long to wait after the first error, and at most.
    public static let errorDelays = (first: Duration.milliseconds(50), last: Duration.seconds(2))
    /// The channel on which each tick's number is sent.
    public static let channel = "tombolo_tick"
    /// Positions kept to find out where a tick's changes begin.
    static let positionLimit = 4_096

    private struct Exporter {
        let connection: PostgresConnection
        let processID: Int
        let since: ContinuousClock.Instant
    }

    /// Where the changelog's sequence stood before a transaction number was assigned.
    private struct Position {
        let xid: UInt64
        let sequence: Int64
    }

    private let configuration: PostgresConfiguration
    /// Replaces ``maximumSnapshotAge`` in tests.
    private let snapshotAge: Duration
    private let onTick: @Sendable (Int64) -> Void
    private let logger: Logger
    private let clock = ContinuousClock()
    private let wakeUp = WakeUp()

    /// Whether ``run()``, which keeps the lease alive, is running.
    private var isRunning = false
    /// Set while this process holds the lock.
    private var lease: SequencerLease?
    /// When PostgreSQL last answered on ``holder``.
    private var heardAt: ContinuousClock.Instant?
    private var patience = LeasePatience()
    /// Ticks that this process has made.
    private var tickCount = 0
    private var holder: PostgresConnection?
    private var writer: PostgresConnection?
    /// Waits for the lock, and becomes the holder once it has it.
    private var candidate: PostgresConnection?
    private var isMakingTick = false
    private var spare: PostgresConnection?
    private var exporters: [Exporter] = []
    /// When the last check for transactions that wait for a snapshot happened.
    private var lookedForWaitersAt: ContinuousClock.Instant?
    private var last: StoredTick?
    /// The snapshot, as text, of the last look that found no changes.
    private var seenWithoutChanges = ""
    private var positions: [Position] = []

    /// - Parameter onTick: called with each tick's number once the tick is committed, for recipients that
    ///   PostgreSQL's notifications don't reach. It must not block.
    public init(
        configuration: PostgresConfiguration, onTick: @escaping @Sendable (Int64) -> Void = { _ in },
        logger: Logger = Logger(label: "tombolo.sequencer")
    ) {
        self.init(
            configuration: configuration, snapshotAge: Self.maximumSnapshotAge, onTick: onTick, logger: logger)
    }

    /// - Parameter snapshotAge: replaces ``maximumSnapshotAge``.
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
                logger.warning("Restarting the sequencer in \(delay): \(error)")
                await resign()
                try? await Task.sleep(for: delay)
            }
        }
    }

    /// Sends something on the connections that PostgreSQL would otherwise end. It runs apart from the making of
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
                // A concurrent ``makeTick()`` may have recycled the exporter, or resigned.
                guard self.holder === holder, exporter?.processID == exporters.last?.processID, !Task.isCancelled else {
                    continue
                }
                logger.debug("Can't renew the sequencer's lease: \(error)")
                lease?.handle(.renewalFailed)
                wakeUp.wake()
            }
        }
    }

    /// Whether this process makes the ticks, how long ago its lease was last renewed, and how many ticks it has made.
    public var status: (isElected: Bool, leaseAge: Duration?, tickCount: Int) {
        (lease != nil, lease == nil ? nil : heardAt.map { clock.now - $0 }, tickCount)
    }

    /// Reports that something was committed, so that the next look comes at once. May be called from any thread.
    nonisolated public func nudge() { wakeUp.wake() }

    /// Gives up the lock and all snapshots. ``makeTick()`` would stand for election again.
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
        // From here on the lease has to be kept alive.
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
                    one's. It was emptied and a new history begins: every device starts over when it next connects.
                    """)
            }
            last = try await StoredTick.latest(connection)
            positions = try await connection.query(
                "SELECT xid::text, position FROM tombolo.tick ORDER BY number DESC LIMIT 64"
            ).reversed().map { row in
                guard let xid = UInt64(try row[0].string) else {
                    throw PostgresStoreError(.corrupt, "The transaction number of a tick can't be read.")
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

    /// Increments the epoch before the newest tick is looked up, so that no other process's tick is accepted from
    /// here on. Waits for a tick that is being inserted at this moment.
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

    /// Makes a tick if something changed since the last one, if there is no snapshot that readers can import, if the
    /// last tick is old, or if another transaction waits for its snapshot to end.
    /// - Throws: ``PostgresStoreError`` `.notElected` if another process is the sequencer.
    public func makeTick() async throws -> Tick? {
        // Another call is in progress and makes the tick.
        guard !isMakingTick else { return nil }
        isMakingTick = true
        defer { isMakingTick = false }
        let (holder, writer) = try await elect()
        do {
            return try await makeTick(holder, writer)
        } catch {
            // After a failure, the state of the connections is unknown. The next call stands for election again.
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
        /// The PostgreSQL backend that keeps the snapshot open.
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
        // A lost lock makes room for another sequencer. If one is elected meanwhile, the insertion below finds its
        // newer epoch.
        async let isHeld: Void = ServiceLock.check(holder)
        let export = try await export(connection)
        try await isHeld
        let firstSequence = firstSequence(of: export.snapshot)
        let tick = Tick(
            number: (last?.tick.number ?? 0) + 1, token: Int64.random(in: 1 ... .max), snapshot: export.snapshot,
            time: Stamp(microseconds: max(export.time, last?.tick.time.microseconds ?? 0)))
        // This locks the epoch's row until the tick is committed. A concurrent election is counted either before, and
        // then refuses this tick, or after, and then sees it.
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
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a transaction number that can't be read.")
        }
        remember(Position(xid: xid, sequence: export.position))
        tickCount += 1
        last = StoredTick(tick: tick, exported: export.name, firstSequence: firstSequence)
        spare = nil
        exporters.append(Exporter(connection: connection, processID: export.processID, since: clock.now))
        onTick(tick.number)
        return tick
    }

    /// Whether anything was committed that the last tick doesn't see. Takes one round trip and leaves nothing open.
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

    /// Whether another transaction waits for the newest snapshot to end, as `CREATE INDEX CONCURRENTLY` waits for all
    /// snapshots older than its index. A new tick replaces the snapshot, which then ends.
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

    /// Opens the transaction that stays open. It touches no table, because its locks would block retention.
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
            throw PostgresStoreError(.corrupt, "PostgreSQL returned a snapshot that can't be read.")
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
        // For a table without statistics, the planner assumes that a third of the rows lie beyond any bound, and
        // would read the whole table. A query that can't avoid such a scan would then look expensive enough for JIT
        // compilation. One plan serves all looks.
        try await connection.execute(
            "SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan")
        return connection
    }

    /// Keeps the newest snapshot, which all readers use.
    private func releaseOldExporters(_ now: ContinuousClock.Instant) {
        while exporters.count > 1, now - exporters[1].since >= Self.snapshotLifetime {
            let released = exporters.removeFirst().connection
            if spare == nil { spare = released } else { Task { await released.close() } }
        }
    }

    // MARK: Where a tick's changes begin

    /// A lower bound for the sequence numbers of all changes that a snapshot doesn't see.
    ///
    /// The transaction of such a change has a number that isn't below the snapshot's xmin. If a position was taken
    /// before a number below that xmin was assigned, then the change's transaction got its number after the position
    /// was taken, and its sequence number later still.
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
        // A transaction has been running for very long. Every second position is precise enough.
        positions = positions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
}
