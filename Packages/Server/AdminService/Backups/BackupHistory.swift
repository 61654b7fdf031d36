import PostgresClient
import TomboloHTTP
import TomboloModel

/// The table `tombolo.backup`, and the audit log's entries about backups. The files are authoritative: after a
/// restore, the table is as old as the backup, and lists that backup itself as still in progress.
struct BackupHistory: Sendable {
    /// The number of runs that are kept.
    static let limit = 1_000
    private static let problemByteCount = 1_000

    let pool: PostgresPool

    /// The newest runs, newest first.
    func runs() async throws -> [BackupRun] {
        try await pool.query(
            """
            SELECT b.name, b.is_automatic, coalesce(nullif(a.display_name, ''), a.email), b.server_version, b.started_at,
                b.finished_at, b.problem
            FROM tombolo.backup b LEFT JOIN tombolo.account a ON a.id = b.user_id
            ORDER BY b.started_at DESC, b.name DESC LIMIT \(Self.limit)
            """
        ).map { row in
            BackupRun(
                name: try row[0].string, isAutomatic: try row[1].bool, userName: try row[2].nonNull?.string,
                serverVersion: try row[3].nonNull?.string, startedAt: try row[4].timestampMicroseconds,
                finishedAt: try row[5].nonNull?.timestampMicroseconds, problem: try row[6].nonNull?.string)
        }
    }

    /// The names of runs that haven't ended, according to the database.
    func unfinished() async throws -> [String] {
        try await pool.query("SELECT name FROM tombolo.backup WHERE finished_at IS NULL ORDER BY name").map {
            try $0[0].string
        }
    }

    /// When the last automatic backup began, and whether it succeeded; nil if there was none.
    func lastAutomatic() async throws -> (startedAt: Int64, isMade: Bool)? {
        let found = try await pool.query(
            """
            SELECT started_at, finished_at IS NOT NULL AND problem IS NULL FROM tombolo.backup WHERE is_automatic
            ORDER BY started_at DESC LIMIT 1
            """)
        return try found.first.map { (try $0[0].timestampMicroseconds, try $0[1].bool) }
    }

    // MARK: Writing

    /// Records that a backup begins, and deletes old runs.
    /// - Parameter time: microseconds since 1970.
    func begin(_ name: BackupName, by user: ObjectId?, at time: Int64) async throws {
        try await pool.transaction { connection in
            try await connection.query(
                """
                INSERT INTO tombolo.backup AS b (name, is_automatic, user_id, server_version, started_at)
                VALUES ($1, $2, $3, split_part(current_setting('server_version'), ' ', 1), $4)
                ON CONFLICT (name) DO UPDATE SET user_id = excluded.user_id, server_version = excluded.server_version,
                    started_at = excluded.started_at, finished_at = NULL, byte_count = NULL, problem = NULL
                """,
                [.text(name.text), .bool(name.isAutomatic), .bytea(user?.bytes), .timestamptz(microseconds: time)])
            try await connection.query(
                """
                DELETE FROM tombolo.backup WHERE name IN (
                    SELECT name FROM tombolo.backup ORDER BY started_at DESC, name DESC OFFSET \(Self.limit))
                """)
        }
    }

    /// Records that a backup is complete.
    func finish(_ name: BackupName, byteCount: Int64) async throws {
        try await pool.query(
            """
            UPDATE tombolo.backup SET finished_at = greatest(started_at, clock_timestamp()), byte_count = $2, problem = NULL
            WHERE name = $1
            """, [.text(name.text), .int64(byteCount)])
    }

    /// Records that a backup failed, and why.
    /// - Parameter time: the backup's start, in case the database has no row for it.
    func fail(_ name: BackupName, by user: ObjectId? = nil, _ failure: BackupFailure, at time: Int64) async throws {
        try await pool.query(
            """
            INSERT INTO tombolo.backup AS b (name, is_automatic, user_id, started_at, finished_at, problem)
            VALUES ($1, $2, $3, $4, $4, $5)
            ON CONFLICT (name) DO UPDATE
                SET finished_at = greatest(b.started_at, clock_timestamp()), problem = excluded.problem
            """,
            [
                .text(name.text), .bool(name.isAutomatic), .bytea(user?.bytes), .timestamptz(microseconds: time),
                .text(failure.description.shortened(toByteCount: Self.problemByteCount)),
            ])
    }

    /// Writes an audit entry about a user's action, and performs the action. If that throws, no entry remains.
    func note(
        _ act: BackupAct, _ name: BackupName, by user: ObjectId, _ body: @Sendable () async throws -> Void = {}
    ) async throws {
        try await pool.transaction { connection in
            try await connection.query(
                "INSERT INTO tombolo.panel_backup (user_id, act, backup) VALUES ($1, $2, $3)",
                [.bytea(user.bytes), .text(act.rawValue), .text(name.text)])
            try await body()
        }
    }
}
