public import Logging
public import PostgresClient
import PostgresValues
package import TomboloHTTP
public import TomboloModel
import TomboloPostgresStore
import TomboloLocalization

/// Permanently deletes objects that have been in the trash for as long as their class's retention says, see
/// ``TrashRetention``.
///
/// Any number of processes may run; one at a time works, elected by a lock. A group is deleted when the last of its
/// objects is due. Each group has its own transaction, which also updates the counts, so a process that is killed
/// leaves whole groups, and the next run continues with the rest. A group that can't be deleted, or that an app's
/// function keeps, is recorded with the reason and retried later, after ever longer pauses.
public struct TrashPurge: Sendable {
    /// How often ``TrashPurgeService`` runs it.
    public static let interval = Duration.seconds(3_600)
    /// Groups that one search of the trash returns.
    static let batch = 100
    /// Groups that one run examines; the next run continues.
    static let groupLimit = 10_000
    /// The number of runs that are kept.
    static let historyLimit = 1_000
    /// How long to wait for a group's rows that other transactions have locked.
    static let lockTimeout = Duration.seconds(5)
    /// After a failure, the next attempt waits an hour, then two, four and so on, up to this.
    static let longestPause = Duration.seconds(7 * 86_400)
    /// How long to wait before asking an app's function again about something that it kept.
    static let keptPause = Duration.seconds(86_400)

    /// After this time, a preview stops trying to delete groups to see whether it can.
    static let trialTime = Duration.seconds(10)
    /// How long a preview waits for a group's rows that other transactions have locked.
    static let trialPatience = Duration.milliseconds(250)

    /// The result of a run.
    public struct Report: Hashable, Sendable {
        public var groups = 0
        public var objects = 0
        /// Groups that an app's function keeps.
        public var kept = 0
        /// Groups that couldn't be deleted.
        public var failed = 0
        /// Whether there are more groups to examine.
        public var hasMore = false
    }

    let schema: Schema
    let pool: PostgresPool
    let logger: Logger

    public init(schema: Schema, pool: PostgresPool, logger: Logger = Logger(label: "trash-purge")) {
        self.schema = schema
        self.pool = pool
        self.logger = logger
    }

    /// Does one run.
    /// - Parameter now: microseconds since 1970.
    /// - Returns: nil if another process is running a purge.
    public func run(now: Int64) async throws -> Report? {
        // The lock belongs to a transaction, and each group has a transaction of its own.
        let holder = try await PostgresConnection.connect(pool.configuration, logger: logger)
        do {
            guard try await ServiceLock.purge.take(holder) else {
                await holder.close()
                return nil
            }
            let report = try await runLocked(now, holder)
            await ServiceLock.release(holder)
            await holder.close()
            return report
        } catch {
            await ServiceLock.release(holder)
            await holder.close()
            throw error
        }
    }

    private func runLocked(_ now: Int64, _ holder: PostgresConnection) async throws -> Report {
        let id = try await begin(now)
        var report = Report()
        do {
            var cursor: TrashQueue.Cursor?
            var seen = 0
            while true {
                try Task.checkCancellation()
                // If the connection was lost, so was the lock, and another process may be running.
                try await ServiceLock.check(holder)
                let (entries, retention) = try await due(now, after: cursor)
                for entry in entries {
                    try Task.checkCancellation()
                    try await purge(entry, retention, now, id, &report)
                }
                seen += entries.count
                cursor = entries.last?.cursor
                guard entries.count == Self.batch else { break }
                guard seen < Self.groupLimit else {
                    report.hasMore = true
                    break
                }
            }
            try await finish(id, now, problem: nil)
        } catch {
            try? await finish(id, now, problem: "\(error)")
            throw error
        }
        return report
    }

    // MARK: History

    private func begin(_ now: Int64) async throws -> Int64 {
        try await pool.transaction { connection in
            let time = PostgresParameter.timestamptz(microseconds: now)
            try await connection.query(
                """
                UPDATE tombolo.trash_run SET finished_at = $1, problem = 'The process ended before the run did.'
                WHERE finished_at IS NULL
                """, [time])
            let id = try await connection.query(
                "INSERT INTO tombolo.trash_run (started_at) VALUES ($1) RETURNING id", [time])[0, 0].int64
            try await connection.query(
                "DELETE FROM tombolo.trash_run WHERE id <= $1", [.int64(id - Int64(Self.historyLimit))])
            return id
        }
    }

    private func finish(_ id: Int64, _ now: Int64, problem: String?) async throws {
        try await pool.query(
            "UPDATE tombolo.trash_run SET finished_at = greatest(started_at, clock_timestamp()), problem = $2 WHERE id = $1",
            [.int64(id), .text(problem?.shortened(toByteCount: Self.reasonByteCount))])
        guard problem == nil else { return }
        // These were due a day ago. If they still existed, they'd have been examined by now, so they were restored or
        // deleted meanwhile.
        try await pool.query(
            "DELETE FROM tombolo.trash_kept WHERE next_at < $1", [.timestamptz(microseconds: now - Self.day)])
    }

    static let reasonByteCount = 1_000
    private static let day: Int64 = 24 * 60 * 60 * 1_000_000

    // MARK: What is due

    /// The next groups, with the retention by which they're due.
    func due(
        _ now: Int64, after cursor: TrashQueue.Cursor?, all: Bool = false
    ) async throws -> ([TrashQueue.Entry], TrashRetention) {
        try await pool.withConnection { connection in
            let retention = try await TrashRetention.read(connection)
            let parts = Trash.classes(of: schema).map {
                TrashQueue.Part(className: $0.name, time: retention.time(of: $0))
            }
            let waiting = "NOT EXISTS (SELECT FROM tombolo.trash_kept k WHERE k.address = x.g AND k.next_at > $1)"
            let entries = try await TrashQueue(schema: schema).entries(
                parts, after: cursor, until: now, condition: all ? "true" : waiting, limit: Self.batch, connection)
            return (entries, retention)
        }
    }

    // MARK: One group

    /// Thrown for a group that an app's function keeps.
    private struct Kept: Error {
        let className: String
        let key: String
        let reason: String
    }

    private func purge(
        _ entry: TrashQueue.Entry, _ retention: TrashRetention, _ now: Int64, _ id: Int64, _ report: inout Report
    ) async throws {
        let trash = Trash(schema: schema, pool: pool)
        do {
            let count = try await pool.transaction { connection -> Int in
                try await connection.execute(
                    "SET LOCAL lock_timeout = \(Self.lockTimeout.components.seconds * 1_000)")
                // Nothing to delete if the group was meanwhile restored, or trashed again.
                guard let keys = try await keys(of: entry, retention, now, connection) else { return 0 }
                if let kept = try await kept(keys, now, connection) { throw kept }
                try await trash.purge(keys, connection)
                let count = keys.values.reduce(0) { $0 + $1.count }
                try await connection.query(
                    "DELETE FROM tombolo.trash_kept WHERE address = $1", [.text(entry.address)])
                try await connection.query(
                    "UPDATE tombolo.trash_run SET groups = groups + 1, objects = objects + $2 WHERE id = $1",
                    [.int64(id), .int64(Int64(count))])
                return count
            }
            report.objects += count
            report.groups += count > 0 ? 1 : 0
        } catch let kept as Kept {
            report.kept += 1
            try await record(entry, kept, isFailure: false, now, id)
        } catch let error as PostgresError where error.isAboutTheGroup {
            report.failed += 1
            logger.warning("The purge of \(entry.address) failed; will try again: \(error)")
            try await record(entry, await failure(entry, error), isFailure: true, now, id)
        }
    }

    /// Locks a group's objects and returns their keys; nil if there are none or one isn't due.
    nonisolated(nonsending) private func keys(
        of entry: TrashQueue.Entry, _ retention: TrashRetention?, _ now: Int64, _ connection: PostgresConnection
    ) async throws -> Trash.Keys? {
        var keys: Trash.Keys = [:]
        for item in Trash.classes(of: schema) {
            guard let (column, value) = try TrashAddress(entry.address).condition(item) else { continue }
            let found = try await connection.query(
                """
                SELECT \(Trash.keyText(item)), \(retention?.time(of: item) ?? "o.trashed_at") <= $2
                FROM \(PostgresSQL.quoteIdentifier(item.table)) o
                WHERE o.\(column) = $1 AND o.trashed_at IS NOT NULL ORDER BY o.\(Trash.key(item)) FOR UPDATE
                """, [value, .timestamptz(microseconds: now)])
            guard try found.allSatisfy({ try $0[1].bool }) else { return nil }
            if !found.isEmpty { keys[item.name] = try found.map { try $0[0].string } }
        }
        return keys.isEmpty ? nil : keys
    }

    nonisolated(nonsending) private func kept(
        _ keys: Trash.Keys, _ now: Int64, _ connection: PostgresConnection
    ) async throws -> Kept? {
        try await Trash.keptByApp(of: keys, at: now, connection).map {
            Kept(className: $0.className, key: $0.key, reason: $0.reason)
        }
    }

    /// Names the object that failed, if it can be found. The reason is stored, so it's in English.
    private func failure(_ entry: TrashQueue.Entry, _ error: PostgresError) async -> Kept {
        let found = try? await pool.transaction { connection -> Trash.Keys? in
            try await keys(of: entry, nil, Int64.max / 2, connection)
        }
        if let keys = found,
            let first = try? await Trash(schema: schema, pool: pool).firstKept(of: keys)
        {
            return Kept(className: first.className, key: first.key, reason: Self.reason(first.error))
        }
        return Kept(className: "", key: "", reason: Self.reason(error))
    }

    private static func reason(_ error: PostgresError) -> String {
        MessageCatalogue.$current.withValue(nil) { error.reasonToKeep }
    }

    private func record(
        _ entry: TrashQueue.Entry, _ kept: Kept, isFailure: Bool, _ now: Int64, _ id: Int64
    ) async throws {
        try await pool.transaction { connection in
            try await connection.query(
                """
                INSERT INTO tombolo.trash_kept AS k (address, class, key, reason, is_failure, first_at, last_at, next_at)
                VALUES ($1, $2, $3, $4, $5, $6, $6, $6 + make_interval(secs => $7))
                ON CONFLICT (address) DO UPDATE SET class = excluded.class, key = excluded.key, reason = excluded.reason,
                    is_failure = excluded.is_failure, attempts = k.attempts + 1, last_at = excluded.last_at,
                    next_at = excluded.last_at + CASE WHEN $5 THEN least(make_interval(hours => 1) * 2 ^ least(k.attempts, 20),
                        make_interval(secs => $8)) ELSE make_interval(secs => $7) END
                """,
                [
                    .text(entry.address), .text(kept.className), .text(kept.key),
                    .text(kept.reason.shortened(toByteCount: Self.reasonByteCount)), .bool(isFailure),
                    .timestamptz(microseconds: now),
                    .double(Double(isFailure ? 3_600 : Self.keptPause.components.seconds)),
                    .double(Double(Self.longestPause.components.seconds)),
                ])
            try await connection.query(
                """
                UPDATE tombolo.trash_run SET kept = kept + $2, failed = failed + $3 WHERE id = $1
                """, [.int64(id), .int64(isFailure ? 0 : 1), .int64(isFailure ? 1 : 0)])
        }
    }
}

// MARK: Looking

extension TrashPurge {
    /// How many days objects of each class stay in the trash; nil if they stay forever.
    package func retention() async throws -> [(className: String, days: Int?)] {
        let retention = try await pool.withConnection { try await TrashRetention.read($0) }
        return Trash.classes(of: schema).map { ($0.name, retention.days(of: $0)) }
    }

    /// What a run would delete now, and what it would keep and why, for up to ``batch`` groups. For up to
    /// ``trialTime``, each group is deleted in a transaction that is rolled back, so the answer is the database's
    /// own. For the remaining groups, only the app's functions are asked.
    package func preview(now: Int64) async throws -> JSON {
        let (entries, retention) = try await due(now, after: nil, all: true)
        let end = ContinuousClock.now + Self.trialTime.patient
        var items: [JSON] = []
        for entry in entries {
            let isTried = ContinuousClock.now < end
            let reason = try await reasonToKeep(entry, retention, now, isTried: isTried)
            items.append([
                "group": .string(entry.address), "purgeAt": .string(JSON.timestamp(entry.microseconds)),
                "count": .int(Int64(entry.count)), "keptBecause": reason.map { .string($0) } ?? .null,
                "isTried": .bool(isTried),
            ])
        }
        return ["dryRun": true, "items": .array(items), "hasMore": .bool(entries.count == Self.batch)]
    }

    /// Why a run would keep a group; nil if it would delete it, or if that's unknown because another transaction has
    /// locked it.
    private func reasonToKeep(
        _ entry: TrashQueue.Entry, _ retention: TrashRetention, _ now: Int64, isTried: Bool
    ) async throws -> String? {
        struct Deleted: Error {}
        let trash = Trash(schema: schema, pool: pool)
        do {
            return try await pool.transaction { connection -> String? in
                let patience = Int(Self.trialPatience / .milliseconds(1))
                try await connection.execute("SET LOCAL lock_timeout = '\(patience)ms'")
                guard let keys = try await keys(of: entry, retention, now, connection) else { return nil }
                if let kept = try await kept(keys, now, connection) { return kept.reason }
                guard isTried else { return nil }
                try await trash.purge(keys, connection)
                throw Deleted()
            }
        } catch is Deleted {
            return nil
        } catch let error as PostgresError where error.isAboutTheGroup {
            return error.code == .lockNotAvailable ? nil : await failure(entry, error).reason
        }
    }

    /// The newest runs, and what is kept.
    package func history() async throws -> JSON {
        let runs = try await pool.query(
            """
            SELECT id, started_at, finished_at, groups, objects, kept, failed, problem FROM tombolo.trash_run
            ORDER BY id DESC LIMIT \(Self.batch)
            """)
        let kept = try await pool.query(
            """
            SELECT address, class, key, reason, is_failure, attempts, first_at, last_at, next_at FROM tombolo.trash_kept
            ORDER BY last_at DESC, address LIMIT \(Self.batch)
            """)
        func time(_ cell: PostgresCell) throws -> JSON {
            try cell.nonNull.map { .string(JSON.timestamp(try $0.timestampMicroseconds)) } ?? .null
        }
        func text(_ cell: PostgresCell) throws -> JSON { try cell.nonNull.map { .string(try $0.string) } ?? .null }
        return [
            "runs": .array(
                try runs.map { row in
                    [
                        "id": .int(try row[0].int64), "startedAt": try time(row[1]), "finishedAt": try time(row[2]),
                        "groups": .int(try row[3].int64), "objects": .int(try row[4].int64),
                        "kept": .int(try row[5].int64), "failed": .int(try row[6].int64), "problem": try text(row[7]),
                    ]
                }),
            "kept": .array(
                try kept.map { row in
                    [
                        "group": try text(row[0]), "class": try text(row[1]), "_id": try text(row[2]),
                        "reason": try text(row[3]), "isFailure": .bool(try row[4].bool),
                        "attempts": .int(try row[5].int64), "firstAt": try time(row[6]), "lastAt": try time(row[7]),
                        "nextAt": try time(row[8]),
                    ]
                }),
        ]
    }
}

extension PostgresError {
    /// Whether the error concerns only this group. The connection and the server are fine, so the next group may
    /// succeed.
    fileprivate var isAboutTheGroup: Bool {
        !["08", "53", "57", "58"].contains(code.errorClass) || code == .queryCanceled
    }
}
