import PostgresClient
import TomboloHTTP

/// Runs the first rows of an import in a transaction that is rolled back. Problems that only the data can reveal, such
/// as a link to a missing object, show up before the import begins. It's one transaction, since rows may link to those
/// before them.
struct ImportTrial: Sendable {
    /// No row is tried after this time. Others may wait for the transaction, but no longer than for a batch of the
    /// import.
    static let duration = JobRunner.batchDuration

    /// Doesn't count rows that somebody else had locked.
    private(set) var checked: Int64 = 0
    private(set) var refusedCreates: Int64 = 0
    private(set) var refusedUpdates: Int64 = 0
    private(set) var left: Int64 = 0
    private(set) var problems: [JSON] = []
    /// The first rows as they'd be stored.
    private(set) var rows: [JSON] = []

    static func run(
        _ planned: [ImportPlanner.Planned], _ worker: ImportWorker, _ pool: PostgresPool
    ) async throws -> ImportTrial {
        try await TrialTransaction.run(pool) { connection in
            let end = ContinuousClock.now + duration.patient
            var trial = ImportTrial()
            for entry in planned {
                try await trial.add(entry, worker, connection)
                if ContinuousClock.now > end { break }
            }
            return trial
        }
    }

    private mutating func add(
        _ entry: ImportPlanner.Planned, _ worker: ImportWorker, _ connection: PostgresConnection
    ) async throws {
        let row = entry.row
        var outcome: JobOutcome
        if let failure = entry.failure {
            outcome = .refused(failure)
        } else {
            outcome = try await JobRunner.outcome(connection) { try await worker.perform(row, $0) }
            // It's shown as planned.
            if outcome.isBusy { outcome = JobOutcome(kind: .pending) }
            if let failure = outcome.failure {
                problems += worker.mapping.problems(failure.everything, row: row.number)
                if row.plan == .create { refusedCreates += 1 } else { refusedUpdates += 1 }
            } else if outcome.kind == .left {
                left += 1
            }
        }
        if outcome.kind != .pending { checked += 1 }
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
