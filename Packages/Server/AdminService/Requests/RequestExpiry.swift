import PostgresClient

/// Deletes requests from the log that are too old or too many.
struct RequestExpiry: Sendable {
    /// The most requests that one transaction deletes.
    static let batchSize = 10_000
    /// The time limit for one statement. The slowest counts all kept requests by the primary key.
    static let statementTimeout = Duration.seconds(60)

    private let retention: RequestRetention
    private let pool: PostgresPool
    private let maximumRowCount: Int
    private let batchSize: Int

    /// - Parameters:
    ///   - maximumRowCount: how many stay.
    ///   - batchSize: how many to delete at a time.
    init(
        _ retention: RequestRetention, pool: PostgresPool, maximumRowCount: Int = RequestRetention.maximumRowCount,
        batchSize: Int = batchSize
    ) {
        self.retention = retention
        self.pool = pool
        self.maximumRowCount = maximumRowCount
        self.batchSize = batchSize
    }

    /// - Parameter now: microseconds since 1970.
    /// - Returns: how many were deleted.
    func run(now: Int64) async throws -> Int {
        let age = Int64(retention.days) * 86_400_000_000
        var last = RequestCursor(at: now - age - 1, id: .max)
        let surplus = try await bounded {
            try await $0.query(
                "SELECT at, id FROM tombolo.request_entry ORDER BY at DESC, id DESC OFFSET $1 LIMIT 1",
                [.int64(Int64(maximumRowCount))]
            ).first.map { RequestCursor(at: try $0[0].timestampMicroseconds, id: try $0[1].int64) }
        }
        if let surplus { last = max(last, surplus) }
        var count = 0
        while true {
            try Task.checkCancellation()
            let deleted = try await delete(upTo: last)
            count += deleted
            if deleted < batchSize { return count }
        }
    }

    private func delete(upTo last: RequestCursor) async throws -> Int {
        try await bounded {
            try await $0.query(
                """
                DELETE FROM tombolo.request_entry WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM tombolo.request_entry WHERE (at, id) <= ($1, $2) ORDER BY at, id LIMIT $3))
                """, [.timestamptz(microseconds: last.at), .int64(last.id), .int64(Int64(batchSize))]
            ).affectedRows
        }
    }

    private func bounded<Result: Sendable>(
        _ body: @Sendable (PostgresConnection) async throws -> Result
    ) async throws -> Result {
        try await pool.transaction { connection in
            try await connection.limitStatements(to: Self.statementTimeout)
            return try await body(connection)
        }
    }
}
