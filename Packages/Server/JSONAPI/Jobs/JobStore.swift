import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// The tables `tombolo.job` and `tombolo.job_row`.
enum JobStore {
    private static let columns = """
        j.id, j.kind, j.class, j.user_id, j.state, j.arguments, j.is_atomic, j.total, j.done, j.refused, j.left_alone,
        j.cursor, j.reverts, (SELECT max(u.id) FROM tombolo.job u WHERE u.reverts = j.id
            AND u.state NOT IN ('failed', 'cancelled')), j.message, j.message_wording::text,
        j.created_at, j.started_at, j.progress_at, j.finished_at
        """

    static func text(_ json: JSON) -> String {
        var bytes = JSONBytes()
        json.append(to: &bytes)
        return String(decoding: bytes.bytes, as: UTF8.self)
    }

    static func json(_ cell: PostgresCell) throws -> JSON? {
        guard let text = try cell.nonNull?.string else { return nil }
        return try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
    }

    /// A text from its columns.
    static func storedText(_ english: PostgresCell, _ wording: PostgresCell) throws -> JobText? {
        try english.nonNull.map { JobText(english: try $0.string, json: try wording.nonNull?.string) }
    }

    private static func job(_ row: PostgresRow) throws -> Job {
        guard let kind = Job.Kind(rawValue: try row[1].string), let state = Job.State(rawValue: try row[4].string)
        else {
            throw RequestFailure(
                .unavailable, localized("This server doesn't know this kind of job."),
                hint: localized("Ask a server with a newer version."))
        }
        func time(_ place: Int) throws -> Int64? { try row[place].nonNull?.timestampMicroseconds }
        return Job(
            id: try row[0].int64, kind: kind, className: try row[2].string,
            user: try ObjectId(string: row[3].string), state: state, arguments: try json(row[5]) ?? .null,
            isAtomic: try row[6].bool, total: try row[7].int64, done: try row[8].int64, refused: try row[9].int64,
            left: try row[10].int64, cursor: try row[11].int64, reverts: try row[12].nonNull?.int64,
            revertedBy: try row[13].nonNull?.int64, message: try storedText(row[14], row[15]),
            createdAt: try row[16].timestampMicroseconds, startedAt: try time(17), progressAt: try time(18),
            finishedAt: try time(19))
    }

    // MARK: Looking

    /// A user's jobs, newest first.
    static func jobs(
        of user: ObjectId, before id: Int64?, limit: Int, _ connection: PostgresConnection
    ) async throws -> [Job] {
        try await connection.query(
            """
            SELECT \(columns) FROM tombolo.job j WHERE j.user_id = $1 AND ($2::bigint IS NULL OR j.id < $2)
            ORDER BY j.id DESC LIMIT \(limit)
            """, [.text(user.stringValue), .int64(id)]
        ).map(job)
    }

    /// - Parameter isLocked: waits until nobody is processing the job, and keeps others from doing so.
    /// - Throws: ``RequestFailure`` with status 404 if there is no such job or it's somebody else's.
    static func job(
        _ id: Int64, of user: ObjectId, isLocked: Bool = false, _ connection: PostgresConnection
    ) async throws -> Job {
        let condition = "FROM tombolo.job j WHERE j.id = $1 AND j.user_id = $2"
        let parameters: [PostgresParameter] = [.int64(id), .text(user.stringValue)]
        // Read after the lock, in a separate statement. Otherwise changes made meanwhile by others would be missed.
        if isLocked { try await connection.query("SELECT 1 \(condition) FOR UPDATE", parameters) }
        let found = try await connection.query("SELECT \(columns) \(condition)", parameters)
        guard let row = found.first else {
            throw RequestFailure(
                .notFound, localized("You have no job with this number."), hint: "GET /jobs lists your jobs.",
                pageHint: localized("The Jobs page lists yours."))
        }
        return try job(row)
    }

    /// The outcomes of a job's rows, in their order, with reasons in the language of ``MessageCatalogue/current``.
    static func outcomes(
        of job: Job, _ kind: JobOutcome.Kind?, after number: Int64, limit: Int, _ connection: PostgresConnection
    ) async throws -> [JSON] {
        try await connection.query(
            """
            SELECT number, key, outcome::text, reason, reason_wording::text, old, new FROM tombolo.job_row
            WHERE job = $1 AND number > $2 AND ($3::text IS NULL OR outcome = $3::text::"char")
            ORDER BY number LIMIT \(limit)
            """, [.int64(job.id), .int64(number), .text(kind?.rawValue)]
        ).map { row in
            let kind = JobOutcome.Kind(rawValue: try row[2].string) ?? .pending
            return [
                "number": .int(try row[0].int64), "id": try row[1].nonNull.map { .string(try $0.string) } ?? .null,
                "outcome": .string(kind.name),
                "reason": try storedText(row[3], row[4]).map { .string($0.localized) } ?? .null,
                "before": try json(row[5]) ?? .null, "after": try json(row[6]) ?? .null,
            ]
        }
    }

    // MARK: Making

    /// - Throws: ``RequestFailure`` with status 429 if the user has too many unfinished jobs.
    static func make(
        _ kind: Job.Kind, _ className: String, by user: ObjectId, state: Job.State, arguments: JSON,
        reverts: Int64? = nil, isAtomic: Bool = false, _ connection: PostgresConnection
    ) async throws -> Int64 {
        let open = try await connection.query(
            "SELECT count(*) FROM tombolo.job WHERE user_id = $1 AND state IN ('draft', 'queued', 'running')",
            [.text(user.stringValue)])[0, 0].int
        guard open < Job.openLimit else {
            throw RequestFailure(
                .tooManyRequests,
                localized("You have \(open) unfinished jobs; the limit is \(Job.openLimit)."),
                hint: localized("Wait until one is finished, or cancel one."))
        }
        return try await connection.query(
            """
            INSERT INTO tombolo.job (kind, class, user_id, state, arguments, reverts, is_atomic)
            VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id
            """,
            [
                .text(kind.rawValue), .text(className), .text(user.stringValue), .text(state.rawValue),
                .text(text(arguments)), .int64(reverts), .bool(isAtomic),
            ])[0, 0].int64
    }

    static func set(total: Int64, of job: Int64, _ connection: PostgresConnection) async throws {
        try await connection.query(
            "UPDATE tombolo.job SET total = $2 WHERE id = $1", [.int64(job), .int64(total)])
    }

    /// Removes finished jobs and imports that nobody started, with the data to undo them. Jobs that undo another one
    /// keep it.
    static func forgetOld(_ pool: PostgresPool) async throws {
        try await pool.query(
            """
            DELETE FROM tombolo.job j WHERE j.id IN (
                SELECT o.id FROM (
                    SELECT id, state, coalesce(finished_at, progress_at, created_at) AS at,
                        row_number() OVER (PARTITION BY user_id ORDER BY id DESC) AS place
                    FROM tombolo.job WHERE state NOT IN ('queued', 'running')) o
                WHERE o.place > \(Job.keptLimit) OR o.at < now() - make_interval(days => \(Job.keptDays))
                    OR (o.state = 'draft' AND o.at < now() - make_interval(days => \(ImportLimits.draftDays)))
                ORDER BY o.id LIMIT 10)
                -- Once more, of the row as it is then: an import may have been started while its row was waited for.
                AND j.state NOT IN ('queued', 'running')
            """)
    }
}
