internal import PostgresClient
internal import TomboloModel

/// SQL for second factors that servers and tools share.
enum SecondFactors {
    /// - Returns: whether there was one, not counting a setup in progress.
    @discardableResult
    static func remove(of userID: ObjectId, _ pool: PostgresPool) async throws -> Bool {
        let user = PostgresParameter.bytea(userID.bytes)
        return try await pool.transaction { connection in
            try await connection.query("DELETE FROM tombolo.second_factor WHERE user_id = $1", [user])
            try await connection.query("DELETE FROM tombolo.recovery_code WHERE user_id = $1", [user])
            let removed = try await connection.query(
                """
                UPDATE tombolo.account SET second_factor_at = NULL WHERE id = $1 AND second_factor_at IS NOT NULL
                RETURNING 1
                """, [user])
            return !removed.isEmpty
        }
    }
}
