import HTTPTypes
public import PostgresClient
import TomboloHTTP
public import TomboloModel
public import TomboloRules

/// Processes jobs in batches.
///
/// A batch is a transaction that locks the job, processes some rows and moves the job's cursor past them. A server that
/// is killed leaves only complete batches, and any server continues with the next one: nothing is lost, and nothing is
/// done twice. No lease has to expire, since the lock ends with the connection. Any number of servers may work. Each
/// user's jobs are processed one after the other, and users take turns by batches.
public struct JobRunner: Sendable {
    /// The most rows in one transaction.
    static let batchSize = 100
    /// A transaction takes no further row after this time.
    static let batchDuration = Duration.seconds(2)
    /// How long a row waits for others' locks.
    static let lockTimeout = Duration.seconds(5)

    private let rules: LiveRules
    private let pool: PostgresPool
    private let trash: BulkTrash
    private let subject: @Sendable (ObjectId) async throws -> Subject?
    private let types = SchemaCache { ResourceTypes($0) }
    /// ``batchDuration``, except in tests.
    var duration = Self.batchDuration

    /// - Parameter subject: returns a user with their current roles; nil if the account is gone or disabled.
    public init(
        rules: LiveRules, pool: PostgresPool, trash: BulkTrash,
        subject: @escaping @Sendable (ObjectId) async throws -> Subject?
    ) {
        self.rules = rules
        self.pool = pool
        self.trash = trash
        self.subject = subject
    }

    /// Processes one batch of the job whose turn it is.
    /// - Returns: whether there was one.
    /// - Throws: the database's errors. The job isn't lost, and will be tried again.
    public func step() async throws -> Bool {
        for (id, user) in try await JobStore.candidates(pool) {
            do {
                if try await step(id, user) { return true }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                try await JobStore.noteFailure(of: id, RequestFailure(error).wording, pool)
                throw error
            }
        }
        return false
    }

    /// Removes what is too old to be undone.
    public func forgetOld() async throws { try await JobStore.forgetOld(pool) }

    /// A row of an all-or-nothing job was refused.
    private struct AtomicRefusal: Error {
        let job: Job
        let outcomes: [(row: JobRow, outcome: JobOutcome)]
    }

    private func end(_ refusal: AtomicRefusal, _ connection: PostgresConnection) async throws {
        let refused = refusal.outcomes.filter { $0.outcome.kind == .refused }
        try await JobStore.record(refused, of: refusal.job, connection)
        try await JobStore.end(
            refusal.job.id, .failed,
            refused.count == 1
                ? Wording("One row was refused; nothing was changed.")
                : Wording("\(refused.count) rows were refused; nothing was changed."),
            refused: refused.count, connection)
    }

    private func step(_ id: Int64, _ user: ObjectId) async throws -> Bool {
        // Each batch checks the user's current rights.
        let rules = rules.current
        let subject = try await subject(user)
        // In the audit log, the changes belong to the user who requested the job.
        return try await ChangeOrigin(.system, user: user.stringValue, route: "job \(id)").run {
            try await batch(of: id, user, subject, rules)
        }
    }

    private func batch(of id: Int64, _ user: ObjectId, _ subject: Subject?, _ rules: Rules) async throws -> Bool {
        try await pool.transaction { connection in
            try await connection.execute("SET LOCAL lock_timeout = \(Self.lockTimeout.components.seconds * 1_000)")
            guard let job = try await JobStore.take(id, of: user, connection) else { return false }
            let worker: JobWorker
            do {
                worker = try self.worker(for: job, subject, rules)
            } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
                try await JobStore.end(id, .failed, failure.wording, connection)
                return true
            }
            guard job.isAtomic else {
                try await batch(job, worker, connection)
                return true
            }
            do {
                // The savepoint undoes the job's rows but keeps its lock. Otherwise another server could process the
                // job before its end is recorded.
                try await connection.savepoint { try await batch(job, worker, $0) }
            } catch let refusal as AtomicRefusal {
                try await end(refusal, connection)
            }
            return true
        }
    }

    private func worker(for job: Job, _ subject: Subject?, _ rules: Rules) throws -> JobWorker {
        guard let subject else {
            throw RequestFailure(
                .forbidden, Wording("The account that started this job has been deleted or disabled."))
        }
        let types = try types.value(for: rules.schema)
        let index =
            rules.schema.index(of: job.className)
            ?? rules.schema.classes.firstIndex { $0.previousNames.contains(job.className) }
        guard let type = index.flatMap({ types[$0] }) else {
            throw RequestFailure(.notFound, Wording("The class \(job.className) no longer exists."))
        }
        let view = CallerView(subject: subject, rules: rules, types: types)
        if let operation = job.kind.operation, let denial = view.refusal(operation, type) {
            throw RequestFailure.revoked(denial)
        }
        return try JobWorker(job.kind, job.arguments, of: type, for: view, trash)
    }

    private func batch(_ job: Job, _ worker: JobWorker, _ connection: PostgresConnection) async throws {
        let limit = job.isAtomic ? Int(job.total) : Self.batchSize
        let rows = try await JobStore.rows(of: job, limit: limit, connection)
        let clock = ContinuousClock()
        let end = clock.now + duration
        var outcomes: [(row: JobRow, outcome: JobOutcome)] = []
        for row in rows {
            try Task.checkCancellation()
            outcomes.append((row, try await Self.outcome(row, worker, connection)))
            if !job.isAtomic, clock.now > end { break }
        }
        if job.isAtomic, outcomes.contains(where: { $0.outcome.kind == .refused }) {
            throw AtomicRefusal(job: job, outcomes: outcomes)
        }
        try await JobStore.record(outcomes, of: job, connection)
        let isOver = job.done + job.refused + job.left + Int64(outcomes.count) >= job.total || rows.isEmpty
        try await JobStore.advance(job, by: outcomes, isOver: isOver, connection)
    }

    /// Processes one row. If it's refused, the transaction continues.
    static func outcome(
        _ row: JobRow, _ worker: JobWorker, _ connection: PostgresConnection
    ) async throws -> JobOutcome {
        try await outcome(connection) { try await worker.perform(row, $0) }
    }

    /// Returns the outcome of processing a row. If it's refused, the transaction continues.
    static func outcome(
        _ connection: PostgresConnection, _ body: (PostgresConnection) async throws -> JobOutcome
    ) async throws -> JobOutcome {
        do {
            return try await connection.savepoint { try await body($0) }
        } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
            return .refused(failure)
        } catch let error as PostgresError where error.code == .lockNotAvailable {
            return .refused(
                RequestFailure(
                    .conflict, Wording("Somebody else had it locked for more than \(Self.lockTimeout)."),
                    hint: Wording("Try again."),
                    cause: error))
        } catch let error as PostgresError where !error.isRetryable && error.code != .queryCanceled {
            return .refused(RequestFailure(error))
        }
    }
}
