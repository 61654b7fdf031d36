import EventModels
import PostgresClient
import TomboloModel
import TomboloRules

/// The SQL on accounts, credentials and roles.
enum Accounts {
    static let users = PostgresSQL.quoteIdentifier(EventModels.schema["User"]?.table ?? "users")
    static let assignments = PostgresSQL.quoteIdentifier(
        EventModels.schema["RoleAssignment"]?.table ?? "role_assignment")

    struct Account: Sendable {
        let userID: ObjectId
        let hash: PasswordHash?
    }

    static func account(email: String, _ pool: PostgresPool) async throws -> Account? {
        let result = try await pool.query(
            """
            SELECT u."_id", c.rounds, c.block_size, c.parallelism, c.salt, c.key
            FROM \(users) u LEFT JOIN tombolo.credential c ON c.user_id = u."_id"
            WHERE u."email" = $1 AND u."trashed_at" IS NULL
            """, [.text(email)])
        guard let row = result.first, let userID = ObjectId(bytes: try row[0].bytes) else { return nil }
        guard !row[1].isNull else { return Account(userID: userID, hash: nil) }
        let parameters = PasswordParameters(
            rounds: try row[1].int, blockSize: try row[2].int, parallelism: try row[3].int)
        return Account(
            userID: userID, hash: PasswordHash(parameters: parameters, salt: try row[4].bytes, key: try row[5].bytes))
    }

    /// The user with their roles as of now; nil where there is no such user.
    static func subject(_ userID: ObjectId, _ pool: PostgresPool) async throws -> Subject? {
        let result = try await pool.query(
            """
            SELECT a."role", a."event" FROM \(users) u LEFT JOIN \(assignments) a ON a."user" = u."_id"
            WHERE u."_id" = $1 AND u."trashed_at" IS NULL
            """, [.bytea(userID.bytes)])
        guard !result.isEmpty else { return nil }
        var grants: Set<RoleGrant> = []
        for row in result {
            guard let text = try row[0].nonNull?.string, let role = RoleName(rawValue: text) else { continue }
            let event = try row[1].nonNull.flatMap { ObjectId(bytes: try $0.bytes) }
            if let grant = RoleGrant(role, event: event) { grants.insert(grant) }
        }
        return Subject(user: userID, grants: grants)
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
}
