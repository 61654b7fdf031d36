import PostgresClient
import TomboloModel

/// The table `tombolo.restore`, and the audit log's entries about restores. A database that takes another's place
/// also gets the entry that explains this.
struct RestoreHistory: Sendable {
    /// The number of runs that are shown.
    static let limit = 20
    /// The number of runs that are kept.
    private static let keptCount = 1_000
    private static let problemByteCount = 1_000

    let pool: PostgresPool

    /// The newest runs, newest first.
    func runs() async throws -> [RestoreRun] {
        try await pool.query(
            """
            SELECT source, user_name, started_at, finished_at, problem, kept FROM tombolo.restore
            ORDER BY started_at DESC, id DESC LIMIT \(Self.limit)
            """
        ).map { row in
            RestoreRun(
                source: try row[0].string, userName: try row[1].string, startedAt: try row[2].timestampMicroseconds,
                finishedAt: try row[3].nonNull?.timestampMicroseconds, problem: try row[4].nonNull?.string,
                kept: try row[5].nonNull?.string)
        }
    }

    /// Whether a restore is in progress, according to the database.
    func hasUnfinished() async throws -> Bool {
        try await pool.query("SELECT EXISTS (SELECT FROM tombolo.restore WHERE finished_at IS NULL)")[0, 0].bool
    }

    // MARK: Writing

    /// Writes an audit entry about a user's action, and performs the action.
    func note(
        _ act: RestoreAct, _ source: String, by user: ObjectId, _ body: @Sendable () async throws -> Void = {}
    ) async throws {
        try await pool.transaction { connection in
            try await connection.query(
                "INSERT INTO tombolo.panel_restore (user_id, act, source) VALUES ($1, $2, $3)",
                [.bytea(user.bytes), .text(act.rawValue), .text(source)])
            try await body()
        }
    }

    /// Records that a restore begins, and deletes old runs.
    /// - Parameter time: microseconds since 1970.
    /// - Returns: the run's number, and the user's name.
    func begin(_ source: String, by user: ObjectId, at time: Int64) async throws -> (id: Int64, userName: String) {
        try await pool.transaction { connection in
            try await connection.query(
                """
                DELETE FROM tombolo.restore WHERE id IN (
                    SELECT id FROM tombolo.restore ORDER BY started_at DESC, id DESC OFFSET \(Self.keptCount))
                """)
            let row = try await connection.query(
                """
                INSERT INTO tombolo.restore (source, user_id, user_name, started_at)
                SELECT $1, $2, coalesce((SELECT coalesce(nullif(display_name, ''), email) FROM tombolo.account WHERE id = $2),
                    ''), $3
                RETURNING id, user_name
                """, [.text(source), .bytea(user.bytes), .timestamptz(microseconds: time)])[0]
            return (try row[0].int64, try row[1].string)
        }
    }

    /// Records that a restore failed, and why.
    func fail(_ id: Int64, _ failure: BackupFailure) async throws {
        try await pool.query(
            """
            UPDATE tombolo.restore SET finished_at = greatest(started_at, clock_timestamp()), problem = $2 WHERE id = $1
            """, [.int64(id), .text(failure.description.shortened(toByteCount: Self.problemByteCount))])
    }

    /// Ends runs whose process is gone.
    /// - Returns: what they were to restore.
    func failUnfinished(_ failure: BackupFailure) async throws -> [String] {
        try await pool.query(
            """
            UPDATE tombolo.restore SET finished_at = greatest(started_at, clock_timestamp()), problem = $1
            WHERE finished_at IS NULL RETURNING source
            """, [.text(failure.description)]
        ).map { try $0[0].string }
    }

    /// Records that a restore succeeded, in the database that was put aside or in the one that takes its place.
    /// - Parameters:
    ///   - run: the run with its end. It replaces runs that seem to be in progress.
    ///   - user: the user for the audit entry; nil, or a user without an account there, for no entry.
    static func note(_ run: RestoreRun, by user: ObjectId?, _ connection: PostgresConnection) async throws {
        try await connection.transaction { connection in
            try await connection.query("DELETE FROM tombolo.restore WHERE finished_at IS NULL")
            try await connection.query(
                """
                INSERT INTO tombolo.restore (source, user_id, user_name, started_at, finished_at, kept)
                VALUES ($1, $2, $3, $4, clock_timestamp(), $5)
                """,
                [
                    .text(run.source), .bytea(user?.bytes), .text(run.userName),
                    .timestamptz(microseconds: run.startedAt), .text(run.kept),
                ])
            try await connection.query(
                """
                INSERT INTO tombolo.panel_restore (user_id, act, source)
                SELECT id, $2, $3 FROM tombolo.account WHERE id = $1
                """, [.bytea(user?.bytes), .text(RestoreAct.restored.rawValue), .text(run.source)])
        }
    }
}

/// What people do with restores, for the audit log.
enum RestoreAct: String, Sendable {
    /// A restore was requested; recorded in the database that is put aside.
    case requested
    /// A restore was completed; recorded in the database that took its place.
    case restored
    /// A database that was put aside was deleted.
    case deleted
}
