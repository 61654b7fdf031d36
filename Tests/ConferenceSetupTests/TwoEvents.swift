import PostgresClient

/// The keys of two events with a speaker each, as SQL writes them.
enum TwoEvents {
    static let event = "'\\x0000000000000000000000e1'::bytea"
    static let other = "'\\x0000000000000000000000e2'::bytea"
    /// Of ``event``.
    static let speaker = "'\\x0000000000000000000000a1'::bytea"
    /// A speaker of ``other``.
    static let stranger = "'\\x0000000000000000000000a2'::bytea"

    /// Runs `body` on a database of its own that has them, and nothing else.
    static func with(_ body: (PostgresPool) async throws -> Void) async throws {
        try await Databases.withConference { pool in
            try await pool.execute(
                """
                INSERT INTO event (_id, name) VALUES (\(event), 'One'), (\(other), 'Two');
                INSERT INTO speaker (_id, event) VALUES (\(speaker), \(event)), (\(stranger), \(other))
                """)
            try await body(pool)
        }
    }
}
