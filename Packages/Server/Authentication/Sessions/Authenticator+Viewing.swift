package import Foundation
internal import PostgresClient
internal import TomboloModel

/// Viewing the admin panel as somebody else, for the audit log: who did so, as whom, and from when to when.
extension Authenticator {
    /// Records that a session views the panel as somebody else from now on. It replaces any earlier viewing.
    /// - Parameter name: who is viewed, in words.
    /// - Returns: the value of ``PanelSession/viewingSince`` while it lasts.
    package func beginViewing(as name: String, _ session: PanelSession) async throws -> Int64 {
        try await pool.transaction { connection in
            try await Self.endViewing(session, connection)
            return try await connection.query(
                """
                INSERT INTO tombolo.panel_viewing (session_id, user_id, viewed) VALUES ($1, $2, $3)
                RETURNING began_at
                """, [.bytea(session.id.bytes), .bytea(session.userID.bytes), .text(name)])[0, 0]
                .timestampMicroseconds
        }
    }

    /// Records the end of viewings whose sessions have ended: by age, or because their login was revoked.
    package func endExpiredViewings(now: Date) async throws {
        try await pool.transaction { connection in
            try await connection.query(
                """
                UPDATE tombolo.panel_viewing v SET ended_at = clock_timestamp()
                WHERE v.ended_at IS NULL AND NOT EXISTS (
                    SELECT FROM \(Self.panelSessions) WHERE p.session_id = v.session_id AND \(Self.panelGoesOn))
                """, Self.panelAges(now))
        }
    }

    /// Records the end of a session's viewing, if there is one.
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
