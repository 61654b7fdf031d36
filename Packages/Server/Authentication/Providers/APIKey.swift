public import Foundation
internal import PostgresClient
public import TomboloModel

/// A key with which a program logs in as its user.
public struct APIKey: Hashable, Sendable {
    public static let maximumCountOfUser = 20
    public static let maximumNameByteCount = 100
    static let prefix = "tombolo_k_"
    static let secretByteCount = 32

    public let id: ObjectId
    public let name: String
    public let isDisabled: Bool
    public let createdAt: Date
}

extension APIKey {
    /// - Throws: ``AuthenticationError/invalidDisplayName(reason:)``.
    static func validated(name: String) throws(AuthenticationError) -> String {
        let name = try AccountRegistry.validated(displayName: name)
        guard name.utf8.count <= maximumNameByteCount else {
            throw .invalidDisplayName(reason: "it is longer than \(maximumNameByteCount) bytes.")
        }
        return name
    }

    static func text(_ id: ObjectId, _ secret: [UInt8]) -> String { prefix + (id.bytes + secret).base64URL }

    /// The id and the secret in a key's text; nil for any other text.
    static func parts(_ text: String) -> (id: ObjectId, secret: [UInt8])? {
        guard let bytes = text.bytes(after: prefix), bytes.count == 12 + secretByteCount,
            let id = ObjectId(bytes: Array(bytes.prefix(12)))
        else { return nil }
        return (id, Array(bytes.suffix(secretByteCount)))
    }
}

/// The SQL for API keys.
enum APIKeys {
    static func insert(_ key: APIKey, secret: [UInt8], of userID: ObjectId, _ pool: PostgresPool) async throws {
        do {
            try await pool.transaction { connection in
                // Locks the account, so that concurrent requests count each other's keys.
                let account = try await connection.query(
                    "SELECT 1 FROM tombolo.account WHERE id = $1 FOR UPDATE", [.bytea(userID.bytes)])
                guard !account.isEmpty else { throw AuthenticationError.unknownUser }
                let count = try await connection.query(
                    "SELECT count(*) FROM tombolo.api_key WHERE user_id = $1", [.bytea(userID.bytes)])[0, 0].int
                guard count < APIKey.maximumCountOfUser else { throw AuthenticationError.tooManyAPIKeys }
                try await connection.query(
                    """
                    INSERT INTO tombolo.api_key (id, user_id, name, secret_hash, created_at)
                    VALUES ($1, $2, $3, $4, $5)
                    """,
                    [
                        .bytea(key.id.bytes), .bytea(userID.bytes), .text(key.name), .bytea(secret.sha256),
                        .timestamptz(microseconds: key.createdAt.microseconds),
                    ])
            }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw AuthenticationError.apiKeyNameTaken
        }
    }

    static func list(of userID: ObjectId, _ pool: PostgresPool) async throws -> [APIKey] {
        try await pool.query(
            """
            SELECT id, name, disabled_at IS NOT NULL, created_at FROM tombolo.api_key WHERE user_id = $1
            ORDER BY created_at, id
            """, [.bytea(userID.bytes)]
        ).compactMap { row in
            try ObjectId(bytes: row[0].bytes).map {
                APIKey(
                    id: $0, name: try row[1].string, isDisabled: try row[2].bool,
                    createdAt: Date(microseconds: try row[3].timestampMicroseconds))
            }
        }
    }

    /// Enables, disables or deletes a key. Unless the key is enabled, sessions that it opened end.
    static func change(_ id: ObjectId, of userID: ObjectId, _ change: Change, _ pool: PostgresPool) async throws {
        try await pool.transaction { connection in
            let sql =
                switch change {
                case .enable: "UPDATE tombolo.api_key SET disabled_at = NULL"
                case .disable:
                    "UPDATE tombolo.api_key SET disabled_at = coalesce(disabled_at, clock_timestamp())"
                case .delete: "DELETE FROM tombolo.api_key"
                }
            let parameters: [PostgresParameter] = [.bytea(id.bytes), .bytea(userID.bytes)]
            if change != .enable {
                // A login that has checked the key is recorded first, and ends below.
                try await connection.query("SELECT pg_advisory_xact_lock($1)", [lock(id)])
            }
            let changed = try await connection.query("\(sql) WHERE id = $1 AND user_id = $2 RETURNING id", parameters)
            guard !changed.isEmpty else { throw AuthenticationError.noSuchAPIKey }
            guard change != .enable else { return }
            try await connection.query(
                """
                UPDATE tombolo.login_session SET revoked_at = clock_timestamp(), end_reason = 'API key ended'
                WHERE api_key = $1 AND user_id = $2 AND revoked_at IS NULL
                """, parameters)
        }
    }

    enum Change: Sendable { case enable, disable, delete }

    /// Keeps a key from being disabled or deleted until the caller's transaction has recorded a login. Not every role
    /// that may log people in may lock the key's row.
    /// - Throws: ``AuthenticationError/wrongCredentials`` if that has already happened.
    nonisolated(nonsending) static func hold(_ id: ObjectId, _ connection: PostgresConnection) async throws {
        try await connection.query("SELECT pg_advisory_xact_lock_shared($1)", [lock(id)])
        let enabled = try await connection.query(
            "SELECT 1 FROM tombolo.api_key WHERE id = $1 AND disabled_at IS NULL", [.bytea(id.bytes)])
        guard !enabled.isEmpty else { throw AuthenticationError.wrongCredentials }
    }

    private static func lock(_ id: ObjectId) -> PostgresParameter {
        .int64(Int64(bitPattern: "tombolo.api_key \(id)".stableHash))
    }

    /// The account of an enabled key; nil for any other key.
    static func account(
        _ id: ObjectId, secret: [UInt8], _ pool: PostgresPool
    ) async throws -> (userID: ObjectId, generation: Int64)? {
        let result = try await pool.query(
            """
            SELECT a.id, coalesce(t.generation, 0) FROM tombolo.api_key k JOIN tombolo.account a ON a.id = k.user_id
                LEFT JOIN tombolo.token_generation t ON t.user_id = a.id
            WHERE k.id = $1 AND k.secret_hash = $2 AND k.disabled_at IS NULL AND a.disabled_at IS NULL
            """, [.bytea(id.bytes), .bytea(secret.sha256)])
        guard let row = result.first, let userID = ObjectId(bytes: try row[0].bytes) else { return nil }
        return (userID, try row[1].int64)
    }
}
