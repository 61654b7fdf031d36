import PostgresClient
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// Imports before they begin: jobs in the state `draft`, whose rows are the file's.
extension JobStore {
    /// - Throws: ``RequestFailure`` with status 429 if the user has too many imports that aren't started.
    static func makeDraft(
        _ className: String, by user: ObjectId, arguments: JSON, _ connection: PostgresConnection
    ) async throws -> Int64 {
        // Concurrent uploads of one user must count each other.
        try await connection.query(
            "SELECT pg_advisory_xact_lock(hashtextextended('tombolo.job ' || $1, 0))", [.text(user.stringValue)])
        // Either nobody started the draft, or its upload broke off together with its server.
        try await connection.query(
            """
            DELETE FROM tombolo.job WHERE user_id = $1 AND state = 'draft'
                AND created_at < now() - make_interval(days => \(ImportLimits.draftDays))
            """, [.text(user.stringValue)])
        let open = try await connection.query(
            "SELECT count(*) FROM tombolo.job WHERE user_id = $1 AND state = 'draft'", [.text(user.stringValue)])[0, 0]
            .int
        guard open < ImportLimits.draftCount else {
            throw RequestFailure(
                .tooManyRequests,
                localized(
                    "You have \(open) imports that you haven't started; the limit is \(ImportLimits.draftCount)."
                ),
                hint: "Start or cancel one: GET /jobs lists them.",
                pageHint: localized("Start or discard one: the Jobs page lists them."))
        }
        return try await make(.load, className, by: user, state: .draft, arguments: arguments, connection)
    }

    /// - Parameter keys: the keys of resources that the rows create, unless the rows name others. A row creates the
    ///   same resource however often it's tried.
    static func add(
        _ rows: [ImportFile.Row], keys: [String?], to job: Int64, _ connection: PostgresConnection
    ) async throws {
        // Somebody who discards the draft waits for this transaction, and then removes the text of these rows too.
        let open = try await connection.query(
            "SELECT FROM tombolo.job WHERE id = $1 AND state = 'draft' FOR SHARE", [.int64(job)])
        guard !open.isEmpty else { throw discarded }
        try await connection.query(
            """
            INSERT INTO tombolo.job_row (job, number, key, source)
            SELECT $1, n.number, n.key, n.source FROM unnest($2::bigint[], $3::text[], $4::text[]) AS n (number, key, source)
            """,
            [.int64(job), .int64Array(rows.map(\.number)), .textArray(keys), .textArray(rows.map(\.text))])
    }

    /// Marks the file as complete.
    static func complete(
        _ job: Int64, _ arguments: JSON, total: Int64, _ connection: PostgresConnection
    ) async throws {
        let completed = try await connection.query(
            "UPDATE tombolo.job SET arguments = $2, total = $3 WHERE id = $1 AND state = 'draft' RETURNING id",
            [.int64(job), .text(text(arguments)), .int64(total)])
        guard !completed.isEmpty else { throw discarded }
    }

    private static var discarded: RequestFailure {
        RequestFailure(
            .conflict, localized("The import was discarded while its file was being uploaded."),
            hint: localized("Import the file again."))
    }

    /// Stores the plans of rows, and the targets of their links.
    static func plan(
        _ planned: [ImportPlanner.Planned], of job: Int64, _ connection: PostgresConnection
    ) async throws {
        let rows = planned.map(\.row)
        let reasons = rows.map { $0.reason.map(JobText.init) }
        try await connection.query(
            """
            UPDATE tombolo.job_row r SET key = n.key, plan = n.plan::"char", reason = n.reason,
                reason_wording = n.wording::json, source = coalesce(n.source, r.source)
            FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
                AS n (number, key, plan, reason, source, wording)
            WHERE r.job = $1 AND r.number = n.number
            """,
            [
                .int64(job), .int64Array(rows.map(\.number)), .textArray(rows.map(\.key)),
                .textArray(rows.map { $0.plan?.rawValue }), .textArray(reasons.map { $0?.english }),
                .textArray(planned.map { $0.isResolved ? $0.row.source : nil }), .textArray(reasons.map { $0?.json }),
            ])
    }

    /// Makes a job of a draft.
    static func start(
        _ job: Int64, _ arguments: JSON, isAtomic: Bool, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            "UPDATE tombolo.job SET state = 'queued', arguments = $2, is_atomic = $3 WHERE id = $1 AND state = 'draft'",
            [.int64(job), .text(text(arguments)), .bool(isAtomic)])
    }

    static func forget(_ job: Int64, _ pool: PostgresPool) async throws {
        try await pool.query("DELETE FROM tombolo.job WHERE id = $1 AND state = 'draft'", [.int64(job)])
    }

    /// Removes the file's contents once they aren't needed any more.
    static func forgetSource(of job: Int64, _ connection: PostgresConnection) async throws {
        try await connection.query(
            """
            UPDATE tombolo.job_row r SET source = NULL FROM tombolo.job j
            WHERE j.id = $1 AND j.kind = '\(Job.Kind.load.rawValue)' AND r.job = j.id AND r.source IS NOT NULL
            """, [.int64(job)])
    }
}
