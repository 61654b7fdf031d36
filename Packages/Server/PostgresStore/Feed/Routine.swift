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
    /// An admin server makes a backup of the database, and deletes old ones.
    case backup

    /// How it ended.
    public enum Outcome: Sendable {
        /// In words.
        case done(String)
        case failed(any Error)
    }

    /// Longer texts are cut, in bytes.
    static let maximumTextByteCount = 500

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

    /// As ``note(_:took:pause:on:)``.
    public func note(_ outcome: Outcome, took: Duration, pause: Duration, in pool: PostgresPool) async {
        try? await pool.withConnection { await note(outcome, took: took, pause: pause, on: $0) }
    }
}
