import PostgresClient

/// The keys of two events with a speaker each, as SQL literals.
enum TwoEvents {
    static let event = "'\\x0000000000000000000000e1'::bytea"
    static let other = "'\\x0000000000000000000000e2'::bytea"
    /// A speaker of ``event``.
    static let speaker = "'\\x0000000000000000000000a1'::bytea"
    /// A speaker of ``other``.
    static let stranger = "'\\x0000000000000000000000a2'::bytea"

    /// Runs `body` on a database of its own that contains just these.
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
