import PostgresClient
import TomboloHTTP

/// A dry run: the first rows are done like those of a job, in transactions that don't last. Rows of one transaction see what
/// was done to those before them, as in a job; few rows are in several.
struct BulkTrial: Sendable {
    /// Rows that are tried.
    static let limit = 500
    /// After which no further row is tried.
    static let duration = Duration.seconds(10)
    /// After which a transaction takes no further row: others wait for it. Enough for more than a hundred rows, as a rule.
    static let holdTime = Duration.milliseconds(250)
    /// Refusals that are told.
    static let sampleLimit = 20

    /// Rows that somebody else held aren't among them.
    private(set) var checked = 0
    private(set) var refused = 0
    private(set) var left = 0
    /// Objects that go into the trash, or come out of it, with those that are named.
    private(set) var along: Int64 = 0
    private(set) var samples: [JSON] = []
    /// Rows that the app keeps in the trash, with those that go along.
    private(set) var kept = 0
    private(set) var keepers: [JSON] = []

    /// - Parameter holdTime: ``holdTime`` but in tests.
    static func run(
        _ worker: JobWorker, _ keys: [String], _ pool: PostgresPool, holdTime: Duration = holdTime
    ) async throws -> BulkTrial {
        let end = ContinuousClock.now + duration.patient
        var (trial, rest) = (BulkTrial(), keys[...])
        while !rest.isEmpty, ContinuousClock.now < end {
            (trial, rest) = try await TrialTransaction.run(pool) { [trial, rest] connection in
                try await trial.trying(rest, worker, connection, for: holdTime)
            }
        }
        return trial
    }

    /// - Returns: what was found by then, and the rows that are still to be tried.
    private func trying(
        _ keys: ArraySlice<String>, _ worker: JobWorker, _ connection: PostgresConnection, for holdTime: Duration
    ) async throws -> (BulkTrial, ArraySlice<String>) {
        let end = ContinuousClock.now + holdTime
        var (trial, rest) = (self, keys)
        while let key = rest.popFirst() {
            let row = JobRow(number: 0, key: key, source: nil, old: nil, new: nil)
            let outcome = try await JobRunner.outcome(row, worker, connection)
            // Others may want what is held here, too.
            if outcome.isBusy { break }
            trial.add(outcome, key)
            if let reason = try await worker.reasonToKeep(outcome, connection) { trial.keep(key, because: reason) }
            if ContinuousClock.now >= end { break }
        }
        return (trial, rest)
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

    private mutating func keep(_ key: String, because reason: String) {
        kept += 1
        guard keepers.count < Self.sampleLimit else { return }
        keepers.append(["id": .string(key), "reason": .string(reason)])
    }

    /// - Parameter size: of everything that the request is about.
    func json(_ size: BulkSelection.Size) -> JSON {
        [
            "dryRun": true, "count": .int(size.count), "version": .string(size.version),
            "checked": .int(Int64(checked)), "refused": .int(Int64(refused)), "leftAlone": .int(Int64(left)),
            "along": .int(along), "refusals": .array(samples),
            "kept": .int(Int64(kept)), "keptBecause": .array(keepers),
        ]
    }
}
