public import PostgresClient
public import TomboloLocalization
internal import TomboloModel

/// Work that servers do by themselves every so often, and whose last run is noted for those who look whether it happens.
///
/// Its row in the database says when the next run is due, as whoever asks for one does, and elects the process that does it:
/// taking a run moves the time on. If that process dies, another run is due after the pause.
///
/// A ``ServiceLock`` elects the process that makes a backup, or purges the trash, which is none of these: people start such
/// a run in the process that they ask, beside those that are due, and a process that dies frees the lock at once. Backups may
/// be a year apart. All their runs are in tables of their own.
public enum Routine: String, CaseIterable, Sendable {
    /// The gateway with the lock drops what the changelog no longer needs.
    case changelogRetention = "changelog retention"
    /// An admin server drops months of the audit log that aren't kept.
    case auditExpiry = "audit log expiry"
    /// An admin server forgets old jobs.
    case jobExpiry = "job expiry"
    /// One admin server deletes what isn't kept of the log of requests.
    case requestExpiry = "request log expiry"
    /// An admin server makes a backup of the database, and deletes old ones.
    case backup

    /// How it ended.
    public enum Outcome: Sendable {
        /// In words, which pages translate. Everybody who sees the schedule reads them.
        case done([StoredMessage])
        case failed(any Error)
    }

    /// How often a process looks in the database whether a run is due. Backups have an interval of their own.
    public static let lookInterval = Duration.seconds(2)

    /// Longer texts are cut, in bytes.
    static let maximumTextByteCount = 500

    /// Does a run if one is due, and notes what came of it.
    /// - Parameters:
    ///   - pause: from one run to the next.
    ///   - body: returns what came of it, in words; nil if another process is at it, which notes its own.
    /// - Returns: whether it was due, and this process did it.
    /// - Throws: what `body` throws, which is noted too, and the database's error.
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

    /// Takes the next run if it's due, as one is that has never been, and one that is due later than a pause from now: the
    /// database's clock was wrong when that was noted. Of all processes that try, one gets it, and it counts
    /// as under way until it's noted.
    /// - Parameter pause: when the next one is due, if this one never ends.
    package func take(pause: Duration, in pool: PostgresPool) async throws -> Bool {
        // The condition is asked twice: first without writing anything, then again of the row that is locked by then.
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

    /// Notes a run that has just ended, in place of the one before. Nobody minds if that fails: the next run notes itself.
    /// - Parameters:
    ///   - took: how long it took.
    ///   - pause: when the next one begins.
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
