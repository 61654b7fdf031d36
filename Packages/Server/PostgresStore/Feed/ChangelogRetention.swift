public import Logging
public import PostgresClient
public import TomboloChangesets
internal import TomboloLocalization

/// Drops the part of the changelog that no device needs any more, in whole partitions, without making a writer wait
/// for longer than ``ChangelogPartition/dropTimeoutMilliseconds``.
///
/// - A new partition is attached in advance. It goes into use when the sequence jumps to its range, once every
///   transaction has ended that had written to the changelog when it was attached: such a transaction may not know
///   the partition.
/// - An old partition is dropped once the floor tick sees everything in it, at a moment when no other transaction
///   holds the changelog for longer than that. The floor is the newest tick older than the retention time. Ticks
///   below it are deleted first, and the partitions a grace time later, so that no session uses such a tick as a base
///   meanwhile.
/// - Changes that the audit log hasn't copied yet stay, but for ``auditPatience`` at most. After that, the audit log
///   itself records what it misses.
/// - Receipts of applied changesets are deleted one retention time after the device has acknowledged them: until
///   then, a copy of the device's file may send them again. The newest ``StoreLimits/receiptsPerClient`` of each
///   client stay.
/// - Devices that haven't connected for ``defaultDeviceRetention`` are forgotten, along with their receipts.
///   Changesets that were set aside that long ago are deleted too.
/// - If no process runs this, the partition in use simply grows.
public struct ChangelogRetention: Sendable {
    /// How long a device may be away.
    public static let defaultRetention = Duration.seconds(30 * 86_400)
    /// How long a device may be away before the server forgets the client and its receipts. Longer than
    /// ``defaultRetention``: a device that returns in between downloads everything again, but its last changes are
    /// still applied exactly once.
    public static let defaultDeviceRetention = Duration.seconds(180 * 86_400)
    /// How long one partition is in use.
    public static let defaultPartitionAge = Duration.seconds(86_400)
    /// The time between deleting ticks and dropping their changes. Longer than any transaction that read such a tick
    /// lasts.
    public static let defaultGrace = Duration.seconds(3_600)
    /// How much longer than the retention time ticks and their changes stay if the audit log hasn't copied them yet.
    public static let auditPatience = Duration.seconds(30 * 86_400)
    /// How often ``runPeriodically(in:now:)`` runs. An administrator can also request a run.
    public static let interval = Duration.seconds(600)
    /// How long one step may wait for other transactions' locks. If it can't get them, the next run continues.
    public static let stepTimeout = Duration.seconds(10)
    /// Ticks or receipts deleted in one transaction.
    static let deletionBatch = 10_000
    /// Devices forgotten in one transaction, along with their receipts.
    static let clientBatch = 20

    /// What a run did.
    public struct Report: Hashable, Sendable {
        /// The oldest tick that a device may be at, or nil if no tick is old enough.
        public var floor: Int64?
        public var droppedGenerations: [Int64] = []
        /// The partition that went into use.
        public var openedGeneration: Int64?
        /// Whether a step has to wait for other transactions.
        public var isWaiting = false

        /// The report as text for people.
        var messages: [StoredMessage] {
            var messages = [
                floor.map { StoredMessage("devices may be at tick \($0) or later") }
                    ?? StoredMessage("nothing is old enough")
            ]
            let dropped = droppedGenerations.count
            if dropped > 0 {
                messages.append(
                    StoredMessage(
                        dropped, one: "\(dropped) partition was dropped", other: "\(dropped) partitions were dropped"))
            }
            if openedGeneration != nil { messages.append(StoredMessage("a new partition is in use")) }
            if isWaiting { messages.append(StoredMessage("waiting for other transactions")) }
            return messages
        }
    }

    private let configuration: PostgresConfiguration
    private let retention: Duration
    private let deviceRetention: Duration
    private let partitionAge: Duration
    private let grace: Duration
    private let stepTimeout: Duration
    private let logger: Logger

    public init(
        configuration: PostgresConfiguration, retention: Duration = Self.defaultRetention,
        deviceRetention: Duration = Self.defaultDeviceRetention,
        partitionAge: Duration = Self.defaultPartitionAge, grace: Duration = Self.defaultGrace,
        stepTimeout: Duration = Self.stepTimeout, logger: Logger = Logger(label: "tombolo.retention")
    ) {
        var configuration = configuration
        configuration.applicationName = "tombolo-retention"
        self.configuration = configuration
        self.retention = retention
        self.deviceRetention = max(retention, deviceRetention)
        self.partitionAge = partitionAge
        self.grace = grace
        self.stepTimeout = stepTimeout
        self.logger = logger
    }

    /// Does the runs that are due until the task is cancelled. Errors are logged, and the next run retries.
    /// - Parameter pool: stores when a run is due and what it did.
    public func runPeriodically(in pool: PostgresPool, now: @Sendable () -> Stamp) async {
        var timer = RoutineTimer(.changelogRetention, every: Self.interval, in: pool)
        await timer.runPeriodically(logger) {
            guard let report = try await runAlone(now()) else { return nil }
            logger.debug("Changelog retention: \(report)")
            return report.messages
        }
    }

    /// Does a run even if none is due. Does nothing while another process is running one.
    public func run(now: Stamp) async throws -> Report { try await runAlone(now) ?? Report() }

    /// - Returns: nil if another process is running, even one that took its run long ago.
    private func runAlone(_ now: Stamp) async throws -> Report? {
        // The lock lasts as long as its transaction, and the work doesn't fit into one transaction.
        let holder = try await PostgresConnection.connect(configuration, logger: logger)
        do {
            var report: Report?
            if try await ServiceLock.retention.take(holder) {
                report = try await runLocked(now)
                // Release it explicitly: the next run may start before the server notices a closed connection.
                await ServiceLock.release(holder)
            }
            await holder.close()
            return report
        } catch {
            await ServiceLock.release(holder)
            await holder.close()
            throw error
        }
    }

    private func runLocked(_ now: Stamp) async throws -> Report {
        let connection = try await PostgresConnection.connect(configuration, logger: logger)
        do {
            var report = Report()
            try await connection.execute("SET statement_timeout = \(stepTimeout.components.seconds * 1_000)")
            try await removePartitions(connection, now, &report)
            try await moveFloor(connection, now, &report)
            try await removeReceipts(connection, now)
            try await forgetDevices(connection, now)
            try await attachNextPartition(connection, &report)
            try await openNextPartition(connection, now, &report)
            await connection.close()
            return report
        } catch {
            await connection.close()
            throw error
        }
    }

    // MARK: Old partitions

    private func removePartitions(
        _ connection: PostgresConnection, _ now: Stamp, _ report: inout Report
    ) async throws {
        let current = try await currentGeneration(connection)
        let stored = try await connection.query("SELECT first_seq, set_at FROM tombolo.retention")
        let partitions = try await connection.query(
            """
            SELECT p.generation, i.inhrelid IS NOT NULL FROM tombolo.changelog_partition p \
            LEFT JOIN pg_class c ON c.relname = 'changelog_' || p.generation \
            AND c.relnamespace = 'tombolo'::regnamespace \
            LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND NOT i.inhdetachpending ORDER BY p.generation
            """)
        for row in partitions {
            let generation = try row[0].int64
            guard generation < current else { continue }
            // An earlier version detached partitions first, and may have been interrupted before it dropped one.
            if try row[1].bool {
                guard let floor = stored.first,
                    ChangelogPartition.range(generation).upperBound - 1 <= (try floor[0].int64),
                    Duration.microseconds(now.microseconds - (try floor[1].int64)) >= grace
                else { continue }
            }
            let answer = try await connection.query(
                "SELECT tombolo.\(ChangelogPartition.drop)($1)", [.int64(generation)])
            guard try answer[0, 0].bool else {
                report.isWaiting = true
                return
            }
            report.droppedGenerations.append(generation)
        }
    }

    private func currentGeneration(_ connection: PostgresConnection) async throws -> Int64 {
        let sequence = try await connection.query("SELECT last_value FROM tombolo.changelog_seq")
        return try sequence[0][0].int64 / ChangelogPartition.width
    }

    // MARK: Floor

    private func moveFloor(_ connection: PostgresConnection, _ now: Stamp, _ report: inout Report) async throws {
        let limit = now.microseconds - retention.microseconds
        let found = try await connection.query(
            """
            SELECT number, first_seq FROM tombolo.tick WHERE time <= $1 AND (time <= $2 OR number <= coalesce(\
            (SELECT tick FROM tombolo.audit_position), number)) ORDER BY number DESC LIMIT 1
            """, [.int64(limit), .int64(limit - Self.auditPatience.microseconds)])
        guard let row = found.first else { return }
        let floor = try row[0].int64
        report.floor = floor
        try await delete(
            connection,
            """
            DELETE FROM tombolo.tick WHERE number IN (\
            SELECT number FROM tombolo.tick WHERE number < $1 ORDER BY number LIMIT \(Self.deletionBatch))
            """, below: floor)
        // A floor that hasn't moved keeps its time. Otherwise the grace time would never end.
        try await connection.query(
            """
            INSERT INTO tombolo.retention (floor, first_seq, set_at) VALUES ($1, $2, $3) \
            ON CONFLICT (id) DO UPDATE SET floor = excluded.floor, first_seq = excluded.first_seq, \
            set_at = excluded.set_at WHERE tombolo.retention.first_seq < excluded.first_seq \
            AND NOT EXISTS (SELECT 1 FROM tombolo.changelog_partition p \
            WHERE (p.generation + 1) * \(ChangelogPartition.width) - 1 <= tombolo.retention.first_seq)
            """, [.int64(floor), .int64(try row[1].int64), .int64(now.microseconds)])
    }

    private func removeReceipts(_ connection: PostgresConnection, _ now: Stamp) async throws {
        try await delete(
            connection,
            """
            DELETE FROM tombolo.receipt WHERE (client, number) IN (\
            SELECT client, number FROM tombolo.receipt WHERE acknowledged_at < $1 ORDER BY acknowledged_at \
            LIMIT \(Self.deletionBatch))
            """, below: now.microseconds - retention.microseconds)
    }

    /// Deletes excess receipts, clients that don't come back, and changesets that were set aside.
    private func forgetDevices(_ connection: PostgresConnection, _ now: Stamp) async throws {
        try await delete(
            connection,
            """
            DELETE FROM tombolo.receipt WHERE (client, number) IN (\
            SELECT r.client, r.number FROM tombolo.client c CROSS JOIN LATERAL (\
            SELECT client, number FROM tombolo.receipt WHERE client = c.id AND number <= c.last - $1 \
            LIMIT \(Self.deletionBatch)) AS r WHERE c.last > $1 LIMIT \(Self.deletionBatch))
            """, below: StoreLimits.receiptsPerClient)
        let limit = PostgresParameter.int64(now.microseconds - deviceRetention.microseconds)
        // Skip a device that is uploading right now instead of waiting for it: its row is about to say that it was
        // seen.
        let forgetting = """
            WITH gone AS (DELETE FROM tombolo.client WHERE id IN (SELECT id FROM tombolo.client \
            WHERE seen_at < to_timestamp($1 / 1000000.0) LIMIT \(Self.clientBatch) FOR UPDATE SKIP LOCKED) \
            RETURNING id), receipts AS (DELETE FROM tombolo.receipt AS r USING gone WHERE r.client = gone.id) \
            SELECT count(*) FROM gone
            """
        while try await connection.query(forgetting, [limit])[0][0].int == Self.clientBatch {}
        try await connection.query("DELETE FROM tombolo.set_aside WHERE at < to_timestamp($1 / 1000000.0)", [limit])
        try await connection.query("DELETE FROM tombolo.readable WHERE kept_at < to_timestamp($1 / 1000000.0)", [limit])
    }

    private func delete(_ connection: PostgresConnection, _ sql: String, below limit: Int64) async throws {
        while try await connection.query(sql, [.int64(limit)]).affectedRows == Self.deletionBatch {}
    }

    // MARK: New partitions

    private func attachNextPartition(_ connection: PostgresConnection, _ report: inout Report) async throws {
        let next = try await currentGeneration(connection) + 1
        let present = try await connection.query(
            """
            SELECT 1 FROM pg_inherits WHERE inhparent = 'tombolo.changelog'::regclass \
            AND inhrelid = to_regclass($1)
            """, [.text("tombolo.\(ChangelogPartition.name(next))")])
        guard present.isEmpty else { return }
        do {
            try await connection.query("SELECT tombolo.\(ChangelogPartition.attach)($1)", [.int64(next)])
        } catch let error as PostgresError where error.code == .queryCanceled || error.code == .lockNotAvailable {
            report.isWaiting = true
        }
    }

    private func openNextPartition(
        _ connection: PostgresConnection, _ now: Stamp, _ report: inout Report
    ) async throws {
        let current = try await currentGeneration(connection)
        let rows = try await connection.query(
            """
            SELECT c.opened_at, n.attached_xid < pg_snapshot_xmin(pg_current_snapshot()) OR NOT EXISTS (\
            SELECT 1 FROM pg_locks r JOIN pg_locks x ON x.virtualtransaction = r.virtualtransaction \
            AND x.locktype = 'transactionid' AND x.mode = 'ExclusiveLock' \
            WHERE r.locktype = 'relation' AND r.relation = 'tombolo.changelog'::regclass \
            AND r.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
            AND r.mode = 'RowExclusiveLock' AND age(x.transactionid) >= age(n.attached_xid::xid)) \
            FROM tombolo.changelog_partition c JOIN tombolo.changelog_partition n ON n.generation = c.generation + 1 \
            JOIN pg_inherits i ON i.inhparent = 'tombolo.changelog'::regclass \
            AND i.inhrelid = to_regclass('tombolo.changelog_' || n.generation) \
            WHERE c.generation = $1
            """, [.int64(current)])
        guard let row = rows.first else { return }
        let openedAt = try row[0].nonNull?.int64 ?? 0
        guard Duration.microseconds(now.microseconds - openedAt) >= partitionAge else { return }
        guard try row[1].bool else {
            report.isWaiting = true
            return
        }
        try await connection.query(
            "SELECT tombolo.\(ChangelogPartition.open)($1, $2)", [.int64(current + 1), .int64(now.microseconds)])
        report.openedGeneration = current + 1
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
