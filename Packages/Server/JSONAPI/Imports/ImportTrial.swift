import PostgresClient
import TomboloHTTP

/// The first rows of an import, done in a transaction that doesn't last: what only the data can say, such as that a link
/// leads nowhere, comes out before the import begins.
struct ImportTrial: Sendable {
    private(set) var checked: Int64 = 0
    private(set) var refusedCreates: Int64 = 0
    private(set) var refusedUpdates: Int64 = 0
    private(set) var left: Int64 = 0
    private(set) var problems: [JSON] = []
    /// The first rows as they'd be stored.
    private(set) var rows: [JSON] = []

    /// Carries what was found out of the transaction.
    private struct Over: Error { let trial: ImportTrial }

    static func run(
        _ planned: [ImportPlanner.Planned], _ worker: ImportWorker, _ pool: PostgresPool
    ) async throws -> ImportTrial {
        do {
            try await pool.transaction { connection in
                try await connection.execute(
                    "SET LOCAL lock_timeout = \(JobRunner.lockTimeout.components.seconds * 1_000)")
                let end = ContinuousClock.now + BulkTrial.duration
                var trial = ImportTrial()
                for entry in planned {
                    try await trial.add(entry, worker, connection)
                    if ContinuousClock.now > end { break }
                }
                throw Over(trial: trial)
            }
            return ImportTrial()
        } catch let over as Over {
            return over.trial
        }
    }

    private mutating func add(
        _ entry: ImportPlanner.Planned, _ worker: ImportWorker, _ connection: PostgresConnection
    ) async throws {
        let row = entry.row
        checked += 1
        var outcome: JobOutcome
        if let failure = entry.failure {
            outcome = .refused(failure)
        } else {
            outcome = try await JobRunner.outcome(connection) { try await worker.perform(row, $0) }
            if let failure = outcome.failure {
                problems += worker.mapping.problems(failure.everything, row: row.number)
                if row.plan == .create { refusedCreates += 1 } else { refusedUpdates += 1 }
            } else if outcome.kind == .left {
                left += 1
            }
        }
        guard rows.count < ImportLimits.shownRowCount else { return }
        let action =
            switch outcome.kind {
            case .refused: "refuse"
            case .left: "leave"
            case .done, .pending: row.plan == .create ? "create" : "update"
            }
        rows.append([
            "row": .int(row.number), "id": row.key.map(JSON.string) ?? .null, "action": .string(action),
            "before": outcome.old ?? .null, "after": outcome.new ?? .null,
            "problems": .array(
                outcome.failure.map { worker.mapping.problems($0.everything, row: row.number) } ?? []),
        ])
    }
}
