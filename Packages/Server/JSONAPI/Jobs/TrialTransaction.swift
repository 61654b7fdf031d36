import PostgresClient
import TomboloHTTP

/// A transaction that does what a job would, and is rolled back. Until then it holds locks that others wait for, so
/// it's short and waits for nobody.
enum TrialTransaction {
    /// How long a row waits for others' locks, instead of ``JobRunner/lockTimeout``. The locks of earlier rows are held
    /// meanwhile.
    static let lockTimeout = Duration.milliseconds(250)

    /// Carries the result out of the transaction.
    private struct Over<Trial: Sendable>: Error { let trial: Trial }

    static func run<Trial: Sendable>(
        _ pool: PostgresPool, _ body: (PostgresConnection) async throws -> Trial
    ) async throws -> Trial {
        do {
            return try await pool.transaction { connection -> Trial in
                try await connection.execute("SET LOCAL lock_timeout = '\(Int(lockTimeout / .milliseconds(1)))ms'")
                throw Over(trial: try await body(connection))
            }
        } catch let over as Over<Trial> {
            return over.trial
        }
    }
}

extension JobOutcome {
    /// Whether somebody else had locked the row for so long that nothing is known about it.
    var isBusy: Bool { (failure?.cause as? PostgresError)?.code == .lockNotAvailable }
}
