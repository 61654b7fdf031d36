internal import Logging
internal import PostgresClient
internal import TomboloChangesets
internal import TomboloModel
public import TomboloSyncSession

extension PostgresServerStore {
    /// The most changesets in one transaction.
    public static let maximumGroupSize = 100
    /// How often to attempt a transaction that fails for a transient reason, and the first and longest wait in
    /// between.
    public static let uploadAttempts = (
        limit: 8, first: Duration.milliseconds(10), last: Duration.seconds(1)
    )

    /// How many instructions of one changeset may violate constraints. Each violation takes an attempt to find. A
    /// changeset with more is refused as a whole, and so is one that violates a constraint and has more writes than
    /// ``UploadTransaction/separateWriteLimit``.
    public static let maximumViolations = 16

    /// How often a single changeset is retried because another transaction created an object that it creates, or
    /// deleted one that it links to. After that, the conflict counts as a refusal.
    static let maximumRaces = 3

    /// How long a transaction waits for rows that others have locked. A group gives up early, so that one changeset
    /// on a busy row doesn't hold up the others; its changesets are then applied one by one. Once one of them has
    /// timed out, those behind it give up early too.
    static let lockTimeouts = (together: Duration.milliseconds(500), alone: Duration.seconds(3))

    /// Applies changesets, several in one transaction. If one of a group can't be written, the group is rolled back
    /// and each changeset gets its own transaction, so that the others don't suffer. If bases turn out to be too old,
    /// the group is retried without the changesets that have them.
    /// - Throws: ``UnfinishedUploads`` if the changesets of some clients, but not all, can't be applied, for example
    ///   because they wait for a row for too long.
    public func upload(_ uploads: [Upload]) async throws -> [UploadResult] {
        var results: [UploadResult?] = []
        results.reserveCapacity(uploads.count)
        var rest = uploads[...]
        var stopped: Set<ClientID> = []
        var causes: [ClientID: any Error] = [:]
        while !rest.isEmpty {
            let group = Array(rest.prefix(Self.maximumGroupSize))
            rest = rest.dropFirst(group.count)
            let outcome = try await apply(group, stopped, &causes)
            for (upload, result) in zip(group, outcome) where result?.stopsItsClient == true {
                stopped.insert(upload.client)
            }
            results += outcome
        }
        let stuck = uploads.lazy.compactMap { causes[$0.client] }.first
        guard let cause = stuck else { return results.compactMap(\.self) }
        guard uploads.contains(where: { causes[$0.client] == nil }) else { throw cause }
        throw UnfinishedUploads(results: results, causes: causes)
    }

    /// - Parameter causes: the errors of clients whose changesets are stuck. No later changeset of such a client is
    ///   applied.
    /// - Returns: nil for those changesets of such clients whose outcome is unknown.
    private func apply(
        _ group: [Upload], _ stopped: Set<ClientID>, _ causes: inout [ClientID: any Error]
    ) async throws -> [UploadResult?] {
        if group.allSatisfy({ causes[$0.client] == nil }) {
            do {
                return try await attempt(group, .together, stopped, Self.lockTimeouts.together)
            } catch let failure as UploadFailure {
                guard !failure.cause.isRetryable || failure.cause.code == .lockNotAvailable else { throw failure.cause }
                logger.debug("Applying a group of \(group.count) changesets one by one: \(failure.cause)")
            }
        }
        return try await applyOneByOne(group, stopped, &causes)
    }

    private func applyOneByOne(
        _ group: [Upload], _ stopped: Set<ClientID>, _ causes: inout [ClientID: any Error]
    ) async throws -> [UploadResult?] {
        var results: [UploadResult?] = []
        var stopped = stopped
        var lockTimeout = Self.lockTimeouts.alone
        for upload in group {
            guard causes[upload.client] == nil else {
                results.append(nil)
                continue
            }
            do {
                let result = try await applyAlone(upload, stopped, lockTimeout)
                if result.stopsItsClient { stopped.insert(upload.client) }
                results.append(result)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                let cause = (error as? UploadFailure)?.cause ?? error
                causes[upload.client] = cause
                if (cause as? PostgresError)?.code == .lockNotAvailable { lockTimeout = Self.lockTimeouts.together }
                results.append(nil)
            }
        }
        return results
    }

    /// Leaves out what the database refuses, one instruction after another.
    private func applyAlone(
        _ upload: Upload, _ stopped: Set<ClientID>, _ lockTimeout: Duration
    ) async throws -> UploadResult {
        var refused = RefusedInstructions()
        var count = 0
        var raceCount = 0
        while true {
            do {
                return try await attempt([upload], .alone(without: refused), stopped, lockTimeout)[0]
            } catch let error as UploadFailure
                where error.cause.isLostRace && raceCount < Self.maximumRaces
            {
                // Another transaction created the object at the same time: now it exists, and this changeset merges
                // with it. Or another transaction deleted a link's target: now the link is nil.
                raceCount += 1
            } catch let error as UploadFailure where !error.cause.isRetryable {
                // The tables don't fit the model; nothing is wrong with the changeset.
                guard !error.cause.isMissingName else { throw error.cause }
                guard error.cause.isRefusal else { return try await setAside(upload, error, stopped, lockTimeout) }
                let reference = error.reference
                let refusal = layout.constraints.refusal(
                    error.cause, className: reference.map { schema[$0.classIndex].name }, key: reference?.key)
                count += 1
                if let instruction = error.instruction, count < Self.maximumViolations {
                    refused.refuse(at: instruction, refusal)
                } else {
                    refused.refuseEverything(of: upload.changeset, refusal)
                }
            }
        }
    }

    /// Handles an error that isn't about the data: keeps the changeset for the operator, so that it doesn't block
    /// those behind it.
    private func setAside(
        _ upload: Upload, _ failure: UploadFailure, _ stopped: Set<ClientID>, _ lockTimeout: Duration
    ) async throws -> UploadResult {
        func refusal(_ message: String) -> Refusal {
            Refusal(
                .setAside, message, className: failure.reference.map { schema[$0.classIndex].name },
                key: failure.reference?.key)
        }
        let name = "Changeset \(upload.changeset.number) of client \(upload.client)"
        guard try await hasRoomForSetAside(of: upload.client) else {
            logger.debug("\(name) is refused: its user already has too many changesets set aside: \(failure.cause)")
            let refusal = refusal(
                "The server couldn't apply this change, and already keeps too many of this user's for its operator.")
            let nothing = RefusedInstructions.everything(of: upload.changeset, refusal)
            return try await attempt([upload], .alone(without: nothing), stopped, lockTimeout)[0]
        }
        logger.error("\(name) is being set aside in tombolo.set_aside: \(failure.cause)")
        let refusal = refusal("The server couldn't apply this change and has kept it for its operator.")
        return try await attempt([upload], .setAside(refusal, failure.cause), stopped, lockTimeout)[0]
    }

    private func hasRoomForSetAside(of client: ClientID) async throws -> Bool {
        let found = try await pool.withConnection { connection in
            try await connection.query(
                """
                SELECT count(*), coalesce(sum(pg_column_size(s.changeset)), 0)::bigint FROM tombolo.client u \
                JOIN tombolo.client c ON c.user_id = u.user_id JOIN tombolo.set_aside s ON s.client = c.id \
                WHERE u.id = $1
                """, [.int64(client.rawValue)])
        }
        let limit = StoreLimits.setAsidePerUser
        return try found[0][0].int64 < Int64(limit.count) && found[0][1].int64 < Int64(limit.byteCount)
    }

    /// Runs one transaction, and retries it if it failed for a transient reason.
    private func attempt(
        _ group: [Upload], _ mode: UploadTransaction.Mode, _ stopped: Set<ClientID>, _ lockTimeout: Duration
    ) async throws -> [UploadResult] {
        var delay = Self.uploadAttempts.first
        var attempt = 1
        var tooOld: Set<Int> = []
        while true {
            let layout = layout
            do {
                return try await withTaskExecutorPreference(LongUploads.executor(for: group)) { [tooOld] in
                    try await pool.withConnection { connection in
                        var transaction = UploadTransaction(
                            group: group, mode: mode, stopped: stopped, tooOld: tooOld, lockTimeout: lockTimeout,
                            maximumBulkRowCount: maximumBulkRowCount, layout: layout, connection: connection)
                        return try await transaction.run()
                    }
                }
            } catch let error as OldBases {
                // Each retry has fewer changesets left, since it answers those with the old bases.
                tooOld.formUnion(error.positions)
                logger.debug("Retrying a group of \(group.count) changesets: \(error)")
            } catch {
                let cause = (error as? UploadFailure)?.cause ?? (error as? PostgresError)
                if let error = error as? PostgresStoreError, error.code == .renamed,
                    attempt < Self.uploadAttempts.limit
                {
                    _ = try await followRenames(since: layout)
                    attempt += 1
                    continue
                }
                if let cause, cause.isMissingName, attempt < Self.uploadAttempts.limit {
                    guard try await followRenames(since: layout) else { throw error }
                    attempt += 1
                    continue
                }
                // A transaction that waited for a lock has waited long enough.
                guard let cause, cause.isRetryable, cause.code != .lockNotAvailable,
                    attempt < Self.uploadAttempts.limit
                else { throw error }
                attempt += 1
                logger.debug("Retrying an upload in \(delay): \(cause)")
                try await Task.sleep(for: delay * Double.random(in: 0.5...1))
                delay = min(delay * 2, Self.uploadAttempts.last)
            }
        }
    }
}

extension UploadResult {
    /// Whether later changesets of the client must not be applied in the same call.
    var stopsItsClient: Bool {
        switch self {
        case .gap, .conflict, .unknownBase: true
        case .applied, .duplicate: false
        }
    }
}

extension PostgresError {
    /// Whether another transaction created an object, or deleted a link's target, after this one had looked for it.
    var isLostRace: Bool { isTakenKey || code == .foreignKeyViolation }

    /// Whether another row already has the primary key.
    var isTakenKey: Bool { code == .uniqueViolation && constraintName?.hasSuffix("_pkey") == true }
}
