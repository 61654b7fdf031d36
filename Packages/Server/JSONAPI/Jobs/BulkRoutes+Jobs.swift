import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloHTTP
import TomboloModel

extension BulkRoutes {
    /// Jobs, or rows of one, in one answer.
    static let pageSize = 100

    func addJobs(to routes: Routes) {
        routes.on(.get, "/jobs", access: .own("jobs")) { request, _, user in
            let before = try Self.number(request, "before")
            let jobs = try await api.pool.withConnection {
                try await JobStore.jobs(of: user, before: before, limit: Self.pageSize, $0)
            }
            let next = jobs.count == Self.pageSize ? jobs.last.map { JSON.int($0.id) } : nil
            return JSONAnswer<JSON>(["jobs": .array(jobs.map(\.json)), "next": next ?? .null])
        }
        routes.on(.get, "/jobs/{id}", access: .own("jobs")) { _, context, user in
            let id = try Self.id(context)
            return JSONAnswer(try await api.pool.withConnection { try await JobStore.job(id, of: user, $0) }.json)
        }
        routes.on(.get, "/jobs/{id}/rows", access: .own("jobs")) { request, context, user in
            JSONAnswer(try await rows(request, Self.id(context), user))
        }
        routes.on(.post, "/jobs/{id}/cancel", access: .own("jobs")) { _, context, user in
            JSONAnswer(try await cancel(Self.id(context), user).json)
        }
        routes.on(.post, "/jobs/{id}/undo", access: .own("jobs")) { _, context, user in
            Self.accepted(try await undo(Self.id(context), user))
        }
    }

    /// The job's number in the address.
    static func id(_ context: EdgeContext) throws -> Int64 {
        guard let id = context.parameters.get("id").flatMap(Int64.init) else {
            throw RequestFailure(.notFound, "There is no such job.", hint: "GET /jobs lists your jobs.")
        }
        return id
    }

    private static func number(_ request: Request, _ name: String) throws -> Int64? {
        guard let text = request.uri.queryParameters[name[...]] else { return nil }
        guard let number = Int64(text) else {
            throw RequestFailure(.badRequest, "'\(name)' isn't a number.", source: .parameter(name))
        }
        return number
    }

    private func rows(_ request: Request, _ id: Int64, _ user: ObjectId) async throws -> JSON {
        var kind: JobOutcome.Kind?
        if let name = request.uri.queryParameters["outcome"] {
            kind = JobOutcome.Kind(name: String(name))
            guard kind != nil else {
                throw RequestFailure(
                    .badRequest, "'outcome' isn't an outcome of a row.",
                    hint: "Send pending, done, refused or leftAlone.", source: .parameter("outcome"))
            }
        }
        let after = try Self.number(request, "after") ?? 0
        let rows = try await api.pool.withConnection { [kind] connection in
            let job = try await JobStore.job(id, of: user, connection)
            return try await JobStore.outcomes(of: job, kind, after: after, limit: Self.pageSize, connection)
        }
        let next = rows.count == Self.pageSize ? rows.last?["number"] : nil
        return ["rows": .array(rows), "next": next ?? .null]
    }

    /// Ends a job: the batch under way is finished first, and what was done stays.
    private func cancel(_ id: Int64, _ user: ObjectId) async throws -> Job {
        try await api.pool.transaction { connection in
            let job = try await JobStore.job(id, of: user, isLocked: true, connection)
            guard job.state.isOpen || job.state == .draft else {
                throw RequestFailure(
                    .conflict, "The job has ended: it's \(job.state.rawValue).",
                    hint: job.isUndoable ? "POST /jobs/\(id)/undo takes it back." : nil)
            }
            try await JobStore.end(id, .cancelled, nil, connection)
            return try await JobStore.job(id, of: user, connection)
        }
    }

    /// Makes a job that takes back what another one did, the last row first.
    private func undo(_ id: Int64, _ user: ObjectId) async throws -> Job {
        try await api.pool.transaction { connection in
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
            return try await JobStore.job(undo, of: user, connection)
        }
    }

    private static func checkUndoable(_ job: Job) throws {
        guard !job.isUndoable else { return }
        let reason: (message: String, hint: String)
        if job.state.isOpen {
            reason = ("The job is under way.", "POST /jobs/\(job.id)/cancel ends it; then undo what it did.")
        } else if let other = job.revertedBy {
            reason = ("Job \(other) undoes it.", "GET /jobs/\(other) shows how far that is.")
        } else if !job.kind.isUndoable {
            reason = ("A job of the kind '\(job.kind.rawValue)' can't be undone.", "Do what you want with a new one.")
        } else {
            reason = ("The job did nothing.", "There is nothing to undo.")
        }
        throw RequestFailure(.conflict, reason.message, hint: reason.hint)
    }
}
