internal import Foundation
internal import PostgresClient
internal import TomboloModel

/// The SQL for identities: the ids by which providers other than e-mail and password know users.
enum Identities {
    /// An account with its token generation, and whether it may log in.
    struct Found: Sendable {
        let userID: ObjectId
        let generation: Int64
        let isEnabled: Bool
    }

    /// The account with an identity. Its profile is replaced by what the provider says now.
    static func account(
        _ provider: String, _ identifier: String, profile: [String: String]?, _ pool: PostgresPool
    ) async throws -> Found? {
        let result = try await pool.query(
            """
            WITH known AS (
                SELECT i.user_id, i.profile FROM tombolo.identity i WHERE i.provider = $1 AND i.identifier = $2
            ), renewed AS (
                UPDATE tombolo.identity i SET profile = $3::text::jsonb FROM known
                WHERE i.provider = $1 AND i.identifier = $2 AND $3 IS NOT NULL
                    AND known.profile IS DISTINCT FROM $3::text::jsonb
            )
            SELECT a.id, coalesce(t.generation, 0), a.disabled_at IS NULL
            FROM known k JOIN tombolo.account a ON a.id = k.user_id
                LEFT JOIN tombolo.token_generation t ON t.user_id = a.id
            """, [.text(provider), .text(identifier), .text(try profile.map(json))])
        guard let row = result.first, let userID = ObjectId(bytes: try row[0].bytes) else { return nil }
        return Found(userID: userID, generation: try row[1].int64, isEnabled: try row[2].bool)
    }

    /// Makes an account with an identity.
    /// - Returns: nil if a concurrent login has made it.
    static func makeAccount(
        _ provider: String, _ identifier: String, name: String, profile: [String: String], _ pool: PostgresPool
    ) async throws -> ObjectId? {
        let userID = ObjectId.generate()
        let text = try json(profile)
        do {
            try await pool.transaction { connection in
                try await connection.query(
                    "INSERT INTO tombolo.account (id, display_name) VALUES ($1, $2)",
                    [.bytea(userID.bytes), .text(name)])
                try await insert(provider, identifier, of: userID, profile: text, connection)
            }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            return nil
        }
        return userID
    }

    /// Gives an account another identity. Nothing changes if it already has this one.
    /// - Throws: ``AuthenticationError/identityTaken``.
    static func link(
        _ provider: String, _ identifier: String, to userID: ObjectId, profile: [String: String], _ pool: PostgresPool
    ) async throws {
        let text = try json(profile)
        do {
            try await pool.withConnection {
                try await insert(provider, identifier, of: userID, profile: text, $0)
            }
        } catch let error as PostgresError where error.code == .uniqueViolation {
            let known = try await account(provider, identifier, profile: nil, pool)
            guard known?.userID == userID else { throw AuthenticationError.identityTaken }
        } catch let error as PostgresError where error.code == .foreignKeyViolation {
            throw AuthenticationError.unknownUser
        }
    }

    private static func insert(
        _ provider: String, _ identifier: String, of userID: ObjectId, profile: String, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            "INSERT INTO tombolo.identity (provider, identifier, user_id, profile) VALUES ($1, $2, $3, $4::text::jsonb)",
            [.text(provider), .text(identifier), .bytea(userID.bytes), .text(profile)])
    }

    private static func json(_ profile: [String: String]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(profile), as: UTF8.self)
    }
}
