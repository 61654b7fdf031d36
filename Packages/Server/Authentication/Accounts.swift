import EventModels
import PostgresClient
import TomboloModel
import TomboloRules

/// The SQL on accounts, credentials and roles.
enum Accounts {
    static let usersTable = EventModels.schema["User"]?.table ?? "users"
    static let assignmentsTable = EventModels.schema["RoleAssignment"]?.table ?? "role_assignment"
    static let users = PostgresSQL.quoteIdentifier(usersTable)
    static let assignments = PostgresSQL.quoteIdentifier(assignmentsTable)

    struct Account: Sendable {
        let userID: ObjectId
        let hash: PasswordHash?
        /// Which tokens are good: those of this number.
        let generation: Int64
    }

    static func account(email: String, _ pool: PostgresPool) async throws -> Account? {
        let result = try await pool.query(
            """
            SELECT u."_id", coalesce(t.generation, 0), c.rounds, c.block_size, c.parallelism, c.salt, c.key
            FROM \(users) u LEFT JOIN tombolo.credential c ON c.user_id = u."_id"
                LEFT JOIN tombolo.token_generation t ON t.user_id = u."_id"
            WHERE u."email" = $1 AND u."trashed_at" IS NULL
            """, [.text(email)])
        guard let row = result.first, let userID = ObjectId(bytes: try row[0].bytes) else { return nil }
        let generation = try row[1].int64
        guard !row[2].isNull else { return Account(userID: userID, hash: nil, generation: generation) }
        let parameters = PasswordParameters(
            rounds: try row[2].int, blockSize: try row[3].int, parallelism: try row[4].int)
        return Account(
            userID: userID, hash: PasswordHash(parameters: parameters, salt: try row[5].bytes, key: try row[6].bytes),
            generation: generation)
    }

    /// The user with their roles as of now, or nil if there is no such user.
    static func subject(_ userID: ObjectId, _ pool: PostgresPool) async throws -> KnownSubject? {
        let result = try await pool.query(
            """
            SELECT a."role", a."event", coalesce(t.generation, 0)
            FROM \(users) u LEFT JOIN \(assignments) a ON a."user" = u."_id"
                LEFT JOIN tombolo.token_generation t ON t.user_id = u."_id"
            WHERE u."_id" = $1 AND u."trashed_at" IS NULL
            """, [.bytea(userID.bytes)])
        guard let first = result.first else { return nil }
        var grants: Set<RoleGrant> = []
        for row in result {
            guard let text = try row[0].nonNull?.string, let role = RoleName(rawValue: text) else { continue }
            let event = try row[1].nonNull.flatMap { ObjectId(bytes: try $0.bytes) }
            if let grant = RoleGrant(role, event: event) { grants.insert(grant) }
        }
        return KnownSubject(subject: Subject(user: userID, grants: grants), generation: try first[2].int64)
    }

    static func insert(
        _ userID: ObjectId, email: String, displayName: String, _ connection: PostgresConnection
    ) async throws {
        do {
            try await connection.query(
                #"INSERT INTO \#(users) ("_id", "email", "display_name") VALUES ($1, $2, $3)"#,
                [.bytea(userID.bytes), .text(email), .text(displayName)])
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw AuthenticationError.emailTaken
        }
    }

    static func setPassword(
        _ hash: PasswordHash, of userID: ObjectId, _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            INSERT INTO tombolo.credential (user_id, algorithm, rounds, block_size, parallelism, salt, key)
            VALUES ($1, 'scrypt', $2, $3, $4, $5, $6)
            ON CONFLICT (user_id) DO UPDATE SET algorithm = EXCLUDED.algorithm, rounds = EXCLUDED.rounds,
                block_size = EXCLUDED.block_size, parallelism = EXCLUDED.parallelism, salt = EXCLUDED.salt,
                key = EXCLUDED.key, changed_at = clock_timestamp()
            """,
            [
                .bytea(userID.bytes), .int64(Int64(hash.parameters.rounds)), .int64(Int64(hash.parameters.blockSize)),
                .int64(Int64(hash.parameters.parallelism)), .bytea(hash.salt), .bytea(hash.key),
            ])
    }

    /// Makes every token of the user that was signed before this invalid.
    static func revokeTokens(of userID: ObjectId, _ connection: PostgresConnection) async throws {
        try await connection.query(
            """
            INSERT INTO tombolo.token_generation AS t (user_id, generation) VALUES ($1, 1)
            ON CONFLICT (user_id) DO UPDATE SET generation = t.generation + 1, changed_at = clock_timestamp()
            """, [.bytea(userID.bytes)])
    }
}
