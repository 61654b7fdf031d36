import PostgresClient
import TomboloHTTP

/// A dry run: the first rows are processed as in a job, in transactions that are rolled back. Rows in one transaction
/// see the effects of those before them, as in a job. A few rows take one transaction, more take several.
struct BulkTrial: Sendable {
    /// The most rows that are tried.
    static let limit = 500
    /// No row is tried after this time.
    static let duration = Duration.seconds(10)
    /// How long a transaction takes rows: others wait for its locks. This is usually enough for more than a hundred
    /// rows.
    static let holdTime = Duration.milliseconds(250)
    /// The most refusals that are listed.
    static let sampleLimit = 20

    /// Doesn't count rows that somebody else had locked.
    private(set) var checked = 0
    private(set) var refused = 0
    private(set) var left = 0
    /// Objects that go into the trash or come back together with the selected ones.
    private(set) var along: Int64 = 0
    private(set) var samples: [JSON] = []
    /// Rows with something that the app would keep in the trash, in themselves or in what goes along.
    private(set) var kept = 0
    private(set) var keepers: [JSON] = []

    /// - Parameter holdTime: ``holdTime``, except in tests.
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

    /// - Returns: the results so far, and the rows still to be tried.
    private func trying(
        _ keys: ArraySlice<String>, _ worker: JobWorker, _ connection: PostgresConnection, for holdTime: Duration
    ) async throws -> (BulkTrial, ArraySlice<String>) {
        let end = ContinuousClock.now + holdTime
        var (trial, rest) = (self, keys)
        while let key = rest.popFirst() {
            let row = JobRow(number: 0, key: key, source: nil, old: nil, new: nil)
            let outcome = try await JobRunner.outcome(row, worker, connection)
            // Others may be waiting for locks that this transaction holds.
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
            samples.append(["id": .string(key), "reason": .string(outcome.reason.map { JobText($0).localized } ?? "")])
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
