package import PostgresClient
import TomboloPostgresStore
import TomboloLocalization

/// The servers' automatic work, as recorded in the database by whichever process does it.
package struct Schedule: Sendable {
    let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// All kinds of work, in the order of ``ScheduledWork/Kind``.
    /// - Parameters:
    ///   - makesBackups: whether this server makes automatic backups. If not, other servers' backups are listed as
    ///     long as they're on time.
    ///   - now: microseconds since 1970.
    package func works(makesBackups: Bool = false, now: Int64) async throws -> [ScheduledWork] {
        let routines = try await routines()
        func work(_ kind: ScheduledWork.Kind, _ routine: Routine) -> ScheduledWork {
            var work = ScheduledWork(kind)
            guard let row = routines[routine.rawValue] else { return work }
            (work.startedAt, work.finishedAt, work.nextAt) = (row.startedAt, row.finishedAt, row.nextAt)
            (work.result, work.problem) = (row.result, row.problem)
            return work
        }
        let backup = work(.backup, .backup)
        let isBackupListed = makesBackups || backup.nextAt.map { $0 > now } ?? false
        return [
            try await purge(), try await auditCopy(), work(.auditExpiry, .auditExpiry), try await jobs(),
            work(.jobExpiry, .jobExpiry), work(.requestExpiry, .requestExpiry),
            work(.changelogRetention, .changelogRetention),
        ] + (isBackupListed ? [backup] : [])
    }

    private struct Row {
        let startedAt: Int64
        let finishedAt: Int64
        let nextAt: Int64
        let result: String?
        let problem: String?
    }

    private func routines() async throws -> [String: Row] {
        let found = try await pool.query(
            "SELECT name, started_at, finished_at, next_at, result, messages, problem FROM tombolo.routine")
        return Dictionary(
            try found.map { row in
                (
                    try row[0].string,
                    Row(
                        startedAt: try row[1].timestampMicroseconds, finishedAt: try row[2].timestampMicroseconds,
                        nextAt: try row[3].timestampMicroseconds,
                        result: try row[4].nonNull.map {
                            RoutineResult(english: try $0.string, json: try row[5].nonNull?.string).translated
                        },
                        problem: try row[6].nonNull?.string)
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    private func purge() async throws -> ScheduledWork {
        var work = ScheduledWork(.purge)
        let found = try await pool.query(
            """
            SELECT started_at, finished_at, groups, objects, kept + failed, problem FROM tombolo.trash_run
            ORDER BY id DESC LIMIT 1
            """)
        guard let row = found.first else { return work }
        let startedAt = try row[0].timestampMicroseconds
        work.startedAt = startedAt
        work.finishedAt = try row[1].nonNull?.timestampMicroseconds
        work.nextAt = work.finishedAt.map { time in
            let (next, isBeyond) = time.addingReportingOverflow(TrashPurge.interval.components.seconds * 1_000_000)
            return isBeyond ? time : next
        }
        work.problem = try row[5].nonNull?.string
        let (groups, objects, left) = (try row[2].int64, try row[3].int64, try row[4].int64)
        work.result =
            left > 0
            ? localized("\(objects) objects in \(groups) groups were deleted permanently, \(left) groups stayed")
            : localized("\(objects) objects in \(groups) groups were deleted permanently")
        return work
    }

    private func auditCopy() async throws -> ScheduledWork {
        var work = ScheduledWork(.auditCopy)
        let found = try await pool.query(
            """
            SELECT CASE WHEN isfinite(p.at) THEN p.at END, p.last_id,
                (SELECT count(*) FROM tombolo.audit_baseline b WHERE NOT b.is_done) FROM tombolo.audit_position p
            """)
        guard let row = found.first, let at = try row[0].nonNull?.timestampMicroseconds else { return work }
        work.startedAt = at
        work.finishedAt = at
        let (entries, missing) = (try row[1].int64, try row[2].int64)
        work.result =
            missing > 0
            ? localized("\(entries) entries; earlier objects of \(missing) classes are missing")
            : localized("\(entries) entries")
        return work
    }

    private func jobs() async throws -> ScheduledWork {
        var work = ScheduledWork(.jobs)
        let found = try await pool.query(
            """
            SELECT max(started_at), max(finished_at), count(*) FILTER (WHERE state = 'queued'),
                count(*) FILTER (WHERE state = 'running') FROM tombolo.job
            """)
        guard let row = found.first else { return work }
        work.startedAt = try row[0].nonNull?.timestampMicroseconds
        work.finishedAt = try row[1].nonNull?.timestampMicroseconds
        let (waiting, running) = (try row[2].int64, try row[3].int64)
        work.result = localized("\(waiting) jobs are waiting, \(running) are running")
        return work
    }
}
