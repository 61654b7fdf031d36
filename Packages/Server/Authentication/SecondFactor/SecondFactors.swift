internal import PostgresClient
internal import TomboloModel

/// SQL on second factors that servers and tools run.
enum SecondFactors {
    static func remove(of userID: ObjectId, _ pool: PostgresPool) async throws {
        let user = PostgresParameter.bytea(userID.bytes)
        try await pool.transaction { connection in
            try await connection.query("DELETE FROM tombolo.second_factor WHERE user_id = $1", [user])
            try await connection.query("DELETE FROM tombolo.recovery_code WHERE user_id = $1", [user])
            try await connection.query("UPDATE tombolo.account SET second_factor_at = NULL WHERE id = $1", [user])
        }
    }
}
