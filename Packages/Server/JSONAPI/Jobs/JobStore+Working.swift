import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel

extension JobStore {
    /// The jobs that are next: each user's oldest, beginning with those that have waited longest since their last
    /// batch.
    ///
    /// A job of a kind that only a newer server version knows is left to servers of that version for
    /// ``Job/strangerHours`` since its last batch or attempt. After that, there may be no such server:
    /// ``Job/attemptLimit`` attempts end the job, so that it doesn't block its user's other jobs for ever.
    static func candidates(_ pool: PostgresPool) async throws -> [(id: Int64, user: ObjectId)] {
        try await pool.query(
            """
            SELECT j.id, j.user_id FROM tombolo.job j WHERE j.state IN ('queued', 'running')
                AND NOT EXISTS (SELECT FROM tombolo.job o WHERE o.user_id = j.user_id
                    AND o.state IN ('queued', 'running') AND o.id < j.id)
                AND (j.kind = ANY ($1) OR coalesce(j.progress_at, j.created_at)
                    < now() - make_interval(hours => \(Job.strangerHours)))
            ORDER BY j.progress_at NULLS FIRST, j.id LIMIT 16
            """, [.textArray(Job.Kind.allCases.map(\.rawValue))]
        ).map { (try $0[0].int64, try ObjectId(string: $0[1].string)) }
    }

    /// Locks a job for one batch. The lock belongs to the transaction, so that a job is free again when its server is
    /// gone.
    /// - Returns: nil if another server is processing the job, or if it's finished.
    static func take(_ id: Int64, of user: ObjectId, _ connection: PostgresConnection) async throws -> Job? {
        let found = try await connection.query(
            """
            SELECT 1 FROM tombolo.job WHERE id = $1 AND state IN ('queued', 'running') FOR UPDATE SKIP LOCKED
            """, [.int64(id)])
        guard !found.isEmpty else { return nil }
        return try await job(id, of: user, connection)
    }

    /// The next rows. They were chosen when the job was made; a row is processed in the transaction that moves the
    /// cursor past it.
    /// - Parameters:
    ///   - number: of the row before them; nil for the last processed row.
    ///   - byteCount: about the most bytes of their contents. A longer row comes alone.
    static func rows(
        of job: Job, after number: Int64? = nil, limit: Int, byteCount: Int = .max, _ connection: PostgresConnection
    ) async throws -> [JobRow] {
        try await connection.query(
            """
            SELECT number, key, source, old, new, plan::text, reason, reason_wording::text FROM (
                SELECT *, sum(coalesce(octet_length(source), 0) + coalesce(octet_length(old), 0)
                    + coalesce(octet_length(new), 0)) OVER w AS total, row_number() OVER w AS place
                FROM (SELECT * FROM tombolo.job_row WHERE job = $1 AND number > $2 ORDER BY number LIMIT \(limit)) r
                WINDOW w AS (ORDER BY number)) r
            WHERE place = 1 OR total <= $3 ORDER BY number
            """, [.int64(job.id), .int64(number ?? job.cursor), .int64(Int64(byteCount))]
        ).map { row in
            JobRow(
                number: try row[0].int64, key: try row[1].nonNull?.string, source: try row[2].nonNull?.string,
                old: try json(row[3]), new: try json(row[4]),
                plan: try row[5].nonNull.flatMap { JobRow.Plan(rawValue: try $0.string) },
                reason: try storedText(row[6], row[7])?.wording)
        }
    }

    /// Records the outcomes of rows.
    static func record(
        _ outcomes: [(row: JobRow, outcome: JobOutcome)], of job: Job, _ connection: PostgresConnection
    ) async throws {
        guard !outcomes.isEmpty else { return }
        let reasons = outcomes.map { $0.outcome.reason.map(JobText.init) }
        try await connection.query(
            """
            UPDATE tombolo.job_row r SET outcome = n.outcome::"char", reason = n.reason,
                reason_wording = n.wording::json, old = n.old, new = n.new, key = coalesce(n.key, r.key), source = NULL
            FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
                AS n (number, outcome, reason, old, new, key, wording)
            WHERE r.job = $1 AND r.number = n.number
            """,
            [
                .int64(job.id), .int64Array(outcomes.map(\.row.number)),
                .textArray(outcomes.map(\.outcome.kind.rawValue)), .textArray(reasons.map { $0?.english }),
                .textArray(outcomes.map { $0.outcome.old.map(text) }),
                .textArray(outcomes.map { $0.outcome.new.map(text) }), .textArray(outcomes.map(\.outcome.key)),
                .textArray(reasons.map { $0?.json }),
            ])
    }

    /// Moves a job's cursor past its last processed row.
    /// - Parameter isOver: whether that was the job's last row.
    static func advance(
        _ job: Job, by outcomes: [(row: JobRow, outcome: JobOutcome)], isOver: Bool, _ connection: PostgresConnection
    ) async throws {
        func count(_ kind: JobOutcome.Kind) -> PostgresParameter {
            .int64(Int64(outcomes.count { $0.outcome.kind == kind }))
        }
        try await connection.query(
            """
            UPDATE tombolo.job SET done = done + $2, refused = refused + $3, left_alone = left_alone + $4,
                cursor = coalesce($5, cursor), attempts = 0, message = NULL, message_wording = NULL,
                started_at = coalesce(started_at, clock_timestamp()), progress_at = clock_timestamp(),
                state = CASE WHEN $6 THEN 'done' ELSE 'running' END,
                finished_at = CASE WHEN $6 THEN clock_timestamp() END
            WHERE id = $1
            """,
            [
                .int64(job.id), count(.done), count(.refused), count(.left), .int64(outcomes.last?.row.number),
                .bool(isOver),
            ])
    }

    /// Ends an unfinished job.
    /// - Parameter refused: rows that were refused without moving the cursor.
    static func end(
        _ id: Int64, _ state: Job.State, _ message: Wording?, refused: Int = 0, _ connection: PostgresConnection
    ) async throws {
        let message = message.map(JobText.init)
        try await connection.query(
            """
            UPDATE tombolo.job SET state = $2, message = $3, message_wording = $5::text::json, refused = refused + $4,
                finished_at = clock_timestamp()
            WHERE id = $1 AND state IN ('draft', 'queued', 'running')
            """,
            [
                .int64(id), .text(state.rawValue), .text(message?.english), .int64(Int64(refused)),
                .text(message?.json),
            ])
        try await forgetSource(of: id, connection)
    }

    /// Records that a batch failed for a reason that wasn't a row's. After several failures in a row the job is given
    /// up.
    static func noteFailure(of id: Int64, _ message: Wording, _ pool: PostgresPool) async throws {
        let message = JobText(message)
        let noted = try await pool.query(
            """
            UPDATE tombolo.job SET attempts = attempts + 1, message = $2, message_wording = $3::text::json,
                progress_at = clock_timestamp(),
                state = CASE WHEN attempts + 1 >= \(Job.attemptLimit) THEN 'failed' ELSE state END,
                finished_at = CASE WHEN attempts + 1 >= \(Job.attemptLimit) THEN clock_timestamp() END
            WHERE id = $1 AND state IN ('queued', 'running') RETURNING state
            """, [.int64(id), .text(message.english), .text(message.json)])
        guard try noted.first?[0].string == Job.State.failed.rawValue else { return }
        // These aren't one transaction: the reason that makes batches fail could make this fail too, and the job would
        // never be given up.
        try await pool.withConnection { try await forgetSource(of: id, $0) }
    }
}
