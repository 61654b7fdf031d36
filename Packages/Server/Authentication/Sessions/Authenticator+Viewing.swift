internal import PostgresClient
internal import TomboloModel

/// Looking at the admin panel as somebody else, for the audit log: who, as whom, from when to when.
extension Authenticator {
    /// Notes that a session looks as somebody else from now on, in place of whom it looked as before.
    /// - Parameter name: whom, in words.
    package func beginViewing(as name: String, _ session: PanelSession) async throws {
        try await pool.transaction { connection in
            try await Self.endViewing(session, connection)
            try await connection.query(
                "INSERT INTO tombolo.panel_viewing (session_id, user_id, viewed) VALUES ($1, $2, $3)",
                [.bytea(session.id.bytes), .bytea(session.userID.bytes), .text(name)])
        }
    }

    /// Notes that it doesn't any more, if it did.
    package func endViewing(_ session: PanelSession) async throws {
        try await pool.transaction { try await Self.endViewing(session, $0) }
    }

    nonisolated(nonsending) private static func endViewing(
        _ session: PanelSession, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            "UPDATE tombolo.panel_viewing SET ended_at = clock_timestamp() WHERE session_id = $1 AND ended_at IS NULL",
            [.bytea(session.id.bytes)])
    }
}
