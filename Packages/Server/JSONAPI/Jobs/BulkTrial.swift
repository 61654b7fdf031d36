import PostgresClient
import TomboloHTTP

/// A dry run: the first rows are done like those of a job, in a transaction that doesn't last.
struct BulkTrial: Sendable {
    /// Rows that are tried.
    static let limit = 500
    /// After which no further row is tried.
    static let duration = Duration.seconds(10)
    /// Refusals that are told.
    static let sampleLimit = 20

    private(set) var checked = 0
    private(set) var refused = 0
    private(set) var left = 0
    /// Objects that go into the trash, or come out of it, with those that are named.
    private(set) var along: Int64 = 0
    private(set) var samples: [JSON] = []

    /// Carries what was found out of the transaction.
    private struct Over: Error { let trial: BulkTrial }

    static func run(_ worker: JobWorker, _ keys: [String], _ pool: PostgresPool) async throws -> BulkTrial {
        do {
            try await pool.transaction { connection in
                try await connection.execute(
                    "SET LOCAL lock_timeout = \(JobRunner.lockTimeout.components.seconds * 1_000)")
                throw Over(trial: try await trial(worker, keys, connection))
            }
            return BulkTrial()
        } catch let over as Over {
            return over.trial
        }
    }

    private static func trial(
        _ worker: JobWorker, _ keys: [String], _ connection: PostgresConnection
    ) async throws -> BulkTrial {
        let clock = ContinuousClock()
        let end = clock.now + duration
        var trial = BulkTrial()
        for (index, key) in keys.enumerated() {
            let row = JobRow(number: Int64(index + 1), key: key, source: nil, old: nil, new: nil)
            trial.add(try await JobRunner.outcome(row, worker, connection), key)
            if clock.now > end { break }
        }
        return trial
    }

    private mutating func add(_ outcome: JobOutcome, _ key: String) {
        checked += 1
        switch outcome.kind {
        case .refused:
            refused += 1
            guard samples.count < Self.sampleLimit else { return }
            samples.append(["id": .string(key), "reason": .string(outcome.reason ?? "")])
        case .left: left += 1
        case .done, .pending:
            for name in ["count", "restored"] {
                if case .int(let count)? = outcome.old?[name] { along += count - 1 }
            }
        }
    }

    /// - Parameter size: of everything that the request is about.
    func json(_ size: BulkSelection.Size) -> JSON {
        [
            "dryRun": true, "count": .int(size.count), "version": .string(size.version),
            "checked": .int(Int64(checked)), "refused": .int(Int64(refused)), "leftAlone": .int(Int64(left)),
            "along": .int(along), "refusals": .array(samples),
        ]
    }
}
