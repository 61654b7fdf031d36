public import PostgresClient
public import TomboloLocalization
internal import TomboloModel

/// Work that servers do periodically on their own. The last run is recorded, so that operators can see whether it
/// happens.
///
/// The routine's row says when the next run is due; a request for a run moves that time. The row also elects the
/// process that does the run, because taking a run moves the time on. If that process dies, the next run is due after
/// the pause.
///
/// Backups and trash purges are elected by a ``ServiceLock`` instead. People start such runs in the process that they
/// ask, in addition to the runs that are due, and a process that dies frees the lock at once. Backups may also be a
/// year apart. All their runs are recorded in tables of their own.
public enum Routine: String, CaseIterable, Sendable {
    /// The gateway with the lock drops the changelog rows that are no longer needed.
    case changelogRetention = "changelog retention"
    /// An admin server drops months of the audit log that are past their retention.
    case auditExpiry = "audit log expiry"
    /// An admin server deletes old jobs.
    case jobExpiry = "job expiry"
    /// An admin server deletes entries of the request log that are past their retention.
    case requestExpiry = "request log expiry"
    /// An admin server makes a backup of the database, and deletes old backups.
    case backup

    /// How a run ended.
    public enum Outcome: Sendable {
        /// What the run did, as messages that pages translate. Everybody who can see the schedule reads them.
        case done([StoredMessage])
        case failed(any Error)
    }

    /// How often a process checks in the database whether a run is due. Backups have an interval of their own.
    public static let lookInterval = Duration.seconds(2)

    /// Longer texts are cut to this number of bytes.
    static let maximumTextByteCount = 500

    /// Does a run if one is due, and records its outcome.
    /// - Parameters:
    ///   - pause: the time from one run to the next.
    ///   - body: returns what the run did, or nil if another process is running, which records its own outcome.
    /// - Returns: whether a run was due and this process took it.
    /// - Throws: what `body` throws, which is recorded too, and the database's error.
    @discardableResult
    package func runIfDue(
        every pause: Duration, in pool: PostgresPool, _ body: () async throws -> [StoredMessage]?
    ) async throws -> Bool {
        guard try await take(pause: pause, in: pool) else { return false }
        let start = ContinuousClock.now
        do {
            guard let messages = try await body() else { return true }
            await note(.done(messages), took: ContinuousClock.now - start, pause: pause, in: pool)
        } catch {
            await note(.failed(error), took: ContinuousClock.now - start, pause: pause, in: pool)
            throw error
        }
        return true
    }

    /// Takes the next run if it's due. A routine that has never run is due. So is one whose next run lies more than a
    /// pause ahead: the database's clock was wrong when that time was recorded. Of all processes that try, exactly
    /// one gets the run, which counts as in progress until ``note(_:took:pause:in:)`` records its end.
    /// - Parameter pause: when the next run is due if this one never ends.
    package func take(pause: Duration, in pool: PostgresPool) async throws -> Bool {
        // The condition is tested twice: first without writing anything, then again on the locked row.
        let taken = try await pool.query(
            """
            INSERT INTO tombolo.routine (name, started_at, finished_at, next_at)
            SELECT $1, clock_timestamp(), clock_timestamp() - interval '1 second',
                clock_timestamp() + make_interval(secs => $2)
            WHERE NOT EXISTS (SELECT FROM tombolo.routine WHERE name = $1 AND next_at > clock_timestamp()
                AND next_at <= clock_timestamp() + make_interval(secs => $2))
            ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at, next_at = EXCLUDED.next_at
                WHERE routine.next_at <= clock_timestamp()
                    OR routine.next_at > clock_timestamp() + make_interval(secs => $2)
            """, [.text(rawValue), .double(pause / .seconds(1))])
        return taken.affectedRows == 1
    }

    /// Records a run that has just ended, replacing the one before. An error is ignored: the next run records itself.
    /// - Parameters:
    ///   - took: how long the run took.
    ///   - pause: the time until the next run is due.
    public func note(_ outcome: Outcome, took: Duration, pause: Duration, in pool: PostgresPool) async {
        var (result, problem): (RoutineResult?, String?) = (nil, nil)
        switch outcome {
        case .done(let messages): result = RoutineResult(messages)
        case .failed(let error): problem = "\(error)".shortened(toByteCount: Self.maximumTextByteCount)
        }
        _ = try? await pool.query(
            """
            INSERT INTO tombolo.routine (name, started_at, finished_at, next_at, result, messages, problem)
            VALUES ($1, now() - make_interval(secs => $2), now(), now() + make_interval(secs => $3), $4, $5, $6)
            ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at,
                next_at = EXCLUDED.next_at, result = EXCLUDED.result, messages = EXCLUDED.messages,
                problem = EXCLUDED.problem
            """,
            [
                .text(rawValue), .double(took / .seconds(1)), .double(pause / .seconds(1)), .text(result?.english),
                .json(result?.json), .text(problem),
            ])
    }
}
