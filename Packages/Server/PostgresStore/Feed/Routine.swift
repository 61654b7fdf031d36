public import PostgresClient
internal import TomboloModel

/// Work that servers do by themselves every so often, and whose last run is noted for those who look whether it happens.
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
        /// In words.
        case done(String)
        case failed(any Error)
    }

    /// How often a process looks in the database whether a run is due, because somebody asked for it or another process has
    /// ended. Backups have an interval of their own.
    public static let lookInterval = Duration.seconds(2)

    /// Longer texts are cut, in bytes.
    static let maximumTextByteCount = 500

    /// Takes a run that is due. Of several processes one gets it.
    /// - Parameter pause: when the next one is due, if this one never ends.
    /// - Returns: false if none is due, or the database doesn't answer.
    package func take(pause: Duration, in pool: PostgresPool) async -> Bool {
        let taken = try? await pool.query(
            """
            UPDATE tombolo.routine SET started_at = clock_timestamp(),
                next_at = clock_timestamp() + make_interval(secs => $2)
            WHERE name = $1 AND next_at <= clock_timestamp()
            """, [.text(rawValue), .double(pause / .seconds(1))])
        return taken.map { $0.affectedRows > 0 } ?? false
    }

    /// Notes that a run begins, so that nobody asks for another one meanwhile. The first run ever has no row until it has ended.
    /// - Parameter pause: when the next one is due, if this one never ends.
    package func begin(pause: Duration, on connection: PostgresConnection) async {
        _ = try? await connection.query(
            """
            UPDATE tombolo.routine SET started_at = clock_timestamp(),
                next_at = clock_timestamp() + make_interval(secs => $2)
            WHERE name = $1
            """, [.text(rawValue), .double(pause / .seconds(1))])
    }

    /// Takes the next run if it's due. Of all processes that try, one gets it; if that one dies, it's due again after the pause.
    public func claim(pause: Duration, in pool: PostgresPool) async throws -> Bool {
        // The condition is asked twice: first without writing anything, then again of the row that is locked by then.
        let claimed = try await pool.query(
            """
            INSERT INTO tombolo.routine (name, started_at, finished_at, next_at)
            SELECT $1, clock_timestamp(), clock_timestamp(), clock_timestamp() + make_interval(secs => $2)
            WHERE NOT EXISTS (SELECT FROM tombolo.routine WHERE name = $1 AND next_at > clock_timestamp())
            ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at,
                next_at = EXCLUDED.next_at WHERE routine.next_at <= clock_timestamp()
            RETURNING true
            """, [.text(rawValue), .double(pause / .seconds(1))])
        return claimed.count == 1
    }

    /// Notes a run that has just ended, in place of the one before. Nobody minds if that fails: the next run notes itself.
    /// - Parameters:
    ///   - took: how long it took.
    ///   - pause: when the next one begins.
    public func note(
        _ outcome: Outcome, took: Duration, pause: Duration, on connection: PostgresConnection
    ) async {
        var (result, problem): (String?, String?) = (nil, nil)
        switch outcome {
        case .done(let text): result = text.shortened(toByteCount: Self.maximumTextByteCount)
        case .failed(let error): problem = "\(error)".shortened(toByteCount: Self.maximumTextByteCount)
        }
        _ = try? await connection.query(
            """
            INSERT INTO tombolo.routine (name, started_at, finished_at, next_at, result, problem)
            VALUES ($1, clock_timestamp() - make_interval(secs => $2), clock_timestamp(),
                clock_timestamp() + make_interval(secs => $3), $4, $5)
            ON CONFLICT (name) DO UPDATE SET started_at = EXCLUDED.started_at, finished_at = EXCLUDED.finished_at,
                next_at = EXCLUDED.next_at, result = EXCLUDED.result, problem = EXCLUDED.problem
            """,
            [
                .text(rawValue), .double(took / .seconds(1)), .double(pause / .seconds(1)), .text(result),
                .text(problem),
            ])
    }

    /// Does a run, and notes when it began, when it ended and what came of it.
    /// - Parameters:
    ///   - pause: when the next one begins.
    ///   - body: returns what came of it, in words.
    package func run(pause: Duration, in pool: PostgresPool, _ body: () async throws -> String) async throws {
        let start = ContinuousClock.now
        try? await pool.withConnection { await begin(pause: pause, on: $0) }
        do {
            let words = try await body()
            await note(.done(words), took: ContinuousClock.now - start, pause: pause, in: pool)
        } catch {
            await note(.failed(error), took: ContinuousClock.now - start, pause: pause, in: pool)
            throw error
        }
    }

    /// As ``note(_:took:pause:on:)``.
    public func note(_ outcome: Outcome, took: Duration, pause: Duration, in pool: PostgresPool) async {
        try? await pool.withConnection { await note(outcome, took: took, pause: pause, on: $0) }
    }
}
