package import PostgresClient
package import TomboloHTTP
package import TomboloLocalization
package import TomboloModel

/// One user's jobs, for the JSON routes and the panel's pages alike. Others' jobs can't be seen or touched: they count
/// as missing (404). Answers have the shapes in docs/jobs.md.
package struct OwnJobs: Sendable {
    /// The most jobs, or rows of a job, in one answer.
    package static let pageSize = 100

    let user: ObjectId
    let pool: PostgresPool

    /// The language of messages and reasons; nil for English.
    private let catalogue: MessageCatalogue?

    package init(
        of user: ObjectId, _ pool: PostgresPool, in catalogue: MessageCatalogue? = MessageCatalogue.current
    ) {
        self.user = user
        self.pool = pool
        self.catalogue = catalogue
    }

    private func json(_ job: Job) -> JSON { MessageCatalogue.$current.withValue(catalogue) { job.json } }

    /// `{"jobs": […], "next": …}`, newest first.
    /// - Parameter before: the value of `next`.
    package func list(before: Int64?) async throws -> JSON {
        let jobs = try await pool.withConnection {
            try await JobStore.jobs(of: user, before: before, limit: Self.pageSize, $0)
        }
        let next = jobs.count == Self.pageSize ? jobs.last.map { JSON.int($0.id) } : nil
        return ["jobs": .array(jobs.map(json)), "next": next ?? .null]
    }

    package func job(_ id: Int64) async throws -> JSON {
        json(try await pool.withConnection { try await JobStore.job(id, of: user, $0) })
    }

    /// `{"rows": […], "next": …}`, in their order.
    /// - Parameters:
    ///   - outcome: only rows with this outcome.
    ///   - after: the value of `next`.
    /// - Throws: ``RequestFailure`` with status 400 for an unknown outcome.
    package func rows(of id: Int64, outcome: String?, after: Int64) async throws -> JSON {
        let kind = outcome.flatMap { JobOutcome.Kind(name: $0) }
        guard outcome == nil || kind != nil else {
            throw RequestFailure(
                .badRequest, "'outcome' isn't a row's outcome.",
                hint: "Send pending, done, refused or leftAlone.", source: .parameter("outcome"))
        }
        let rows = try await pool.withConnection { connection in
            let job = try await JobStore.job(id, of: user, connection)
            return try await MessageCatalogue.$current.withValue(catalogue) {
                try await JobStore.outcomes(of: job, kind, after: after, limit: Self.pageSize, connection)
            }
        }
        let next = rows.count == Self.pageSize ? rows.last?["number"] : nil
        return ["rows": .array(rows), "next": next ?? .null]
    }

    /// Cancels a job. The current batch is finished first, and what was done stays.
    /// - Throws: ``RequestFailure`` with status 409 if the job has ended.
    package func cancel(_ id: Int64) async throws -> JSON {
        try await pool.transaction { connection in
            let job = try await JobStore.job(id, of: user, isLocked: true, connection)
            guard job.state.isOpen || job.state == .draft else {
                throw RequestFailure(
                    .conflict, localized("The job has ended: it's \(job.state.word)."),
                    hint: job.isUndoable ? "POST /jobs/\(id)/undo undoes it." : nil,
                    pageHint: job.isUndoable ? localized("Undo it on its page.") : nil)
            }
            try await JobStore.end(id, .cancelled, nil, connection)
            return json(try await JobStore.job(id, of: user, connection))
        }
    }

    /// Makes a job that undoes another one, beginning with its last row.
    /// - Returns: the new job.
    /// - Throws: ``RequestFailure`` with status 409 if it can't be undone, or not any more.
    package func undo(_ id: Int64) async throws -> JSON {
        try await pool.transaction { connection in
            let job = try await JobStore.job(id, of: user, isLocked: true, connection)
            try Self.checkUndoable(job)
            let undo = try await JobStore.make(
                .undo, job.className, by: user, state: .queued, arguments: ["kind": .string(job.kind.rawValue)],
                reverts: id, connection)
            let chosen = try await connection.query(
                """
                INSERT INTO tombolo.job_row (job, number, key, old, new)
                SELECT $1, row_number() OVER (ORDER BY number DESC), key, old, new FROM tombolo.job_row
                WHERE job = $2 AND outcome = 'd'
                """, [.int64(undo), .int64(id)])
            try await JobStore.set(total: Int64(chosen.affectedRows), of: undo, connection)
            return json(try await JobStore.job(undo, of: user, connection))
        }
    }

    private static func checkUndoable(_ job: Job) throws {
        guard !job.isUndoable else { return }
        let reason: (message: String, hint: String, pageHint: String?)
        if job.state.isOpen {
            reason = (
                localized("The job is under way."), "POST /jobs/\(job.id)/cancel ends it; then undo what it did.",
                localized("End it on its page, then undo what it did.")
            )
        } else if let other = job.revertedBy {
            reason = (
                localized("Job \(other) undoes this one."), "GET /jobs/\(other) shows its progress.",
                localized("That job's page shows its progress.")
            )
        } else if !job.kind.isUndoable {
            reason = (
                localized("A job of kind '\(job.kind.rawValue)' can't be undone."),
                localized("Start a new job instead."), nil
            )
        } else {
            reason = (localized("The job did nothing."), localized("There is nothing to undo."), nil)
        }
        throw RequestFailure(.conflict, reason.message, hint: reason.hint, pageHint: reason.pageHint)
    }
}
