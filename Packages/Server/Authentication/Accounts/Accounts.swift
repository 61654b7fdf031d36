import PostgresClient
import TomboloModel
import TomboloRules

/// The SQL for accounts, credentials and grants.
enum Accounts {
    /// What a login needs to know about an account.
    struct Account: Sendable {
        let userID: ObjectId
        let displayName: String
        var hash: PasswordHash?
        /// Tokens of any other generation are revoked.
        let generation: Int64
        /// The account was registered, but nobody has logged in to it.
        var isUnused = false
    }

    /// The account that logs in with this address; nil if it's disabled or doesn't exist.
    static func account(email: String, _ pool: PostgresPool) async throws -> Account? {
        let result = try await pool.query(
            """
            SELECT a.id, coalesce(t.generation, 0), c.rounds, c.block_size, c.parallelism, c.salt, c.key,
                c.is_unused, a.display_name
            FROM tombolo.account a LEFT JOIN tombolo.credential c ON c.user_id = a.id
                LEFT JOIN tombolo.token_generation t ON t.user_id = a.id
            WHERE a.email = $1 AND a.disabled_at IS NULL
            """, [.text(email)])
        guard let row = result.first, let userID = ObjectId(bytes: try row[0].bytes) else { return nil }
        let (generation, name) = (try row[1].int64, try row[8].string)
        guard !row[2].isNull else {
            return Account(userID: userID, displayName: name, hash: nil, generation: generation)
        }
        let parameters = PasswordParameters(
            rounds: try row[2].int, blockSize: try row[3].int, parallelism: try row[4].int)
        return Account(
            userID: userID, displayName: name,
            hash: PasswordHash(parameters: parameters, salt: try row[5].bytes, key: try row[6].bytes),
            generation: generation, isUnused: try row[7].bool)
    }

    /// - Parameter isVerified: whether the address is known to be the user's.
    static func insert(
        _ userID: ObjectId, email: String, displayName: String, isVerified: Bool = false,
        _ connection: PostgresConnection
    ) async throws {
        // Omit the column if it stays empty: the admin server's database role may not set it in a new row.
        let (column, value) = isVerified ? (", verified_at", ", clock_timestamp()") : ("", "")
        do {
            try await connection.query(
                "INSERT INTO tombolo.account (id, email, display_name\(column)) VALUES ($1, $2, $3\(value))",
                [.bytea(userID.bytes), .text(email), .text(displayName)])
        } catch let error as PostgresError where error.code == .uniqueViolation {
            throw AuthenticationError.emailTaken
        }
    }

    static func setPassword(
        _ hash: PasswordHash, of userID: ObjectId, isUnused: Bool = false, _ connection: PostgresConnection
    ) async throws {
        // A link that was mailed earlier must not replace the new password.
        try await connection.query(
            "DELETE FROM tombolo.mail_token WHERE user_id = $1 AND purpose = $2",
            [.bytea(userID.bytes), .text(Mail.Purpose.reset.rawValue)])
        try await connection.query(
            """
            INSERT INTO tombolo.credential (user_id, algorithm, rounds, block_size, parallelism, salt, key, is_unused)
            VALUES ($1, 'scrypt', $2, $3, $4, $5, $6, $7)
            ON CONFLICT (user_id) DO UPDATE SET algorithm = EXCLUDED.algorithm, rounds = EXCLUDED.rounds,
                block_size = EXCLUDED.block_size, parallelism = EXCLUDED.parallelism, salt = EXCLUDED.salt,
                key = EXCLUDED.key, is_unused = EXCLUDED.is_unused, changed_at = clock_timestamp()
            """,
            [
                .bytea(userID.bytes), .int64(Int64(hash.parameters.rounds)), .int64(Int64(hash.parameters.blockSize)),
                .int64(Int64(hash.parameters.parallelism)), .bytea(hash.salt), .bytea(hash.key),
                .bool(isUnused),
            ])
    }

    /// Replaces a hash by a stronger one of the same password, unless the password has changed meanwhile.
    static func strengthen(
        _ old: PasswordHash, to new: PasswordHash, of userID: ObjectId, _ pool: PostgresPool
    ) async throws {
        try await pool.query(
            """
            UPDATE tombolo.credential SET rounds = $3, block_size = $4, parallelism = $5, salt = $6, key = $7
            WHERE user_id = $1 AND key = $2
            """,
            [
                .bytea(userID.bytes), .bytea(old.key), .int64(Int64(new.parameters.rounds)),
                .int64(Int64(new.parameters.blockSize)), .int64(Int64(new.parameters.parallelism)), .bytea(new.salt),
                .bytea(new.key),
            ])
    }

    /// Records a login: the account belongs to its user from now on, so no other account can take it over.
    static func noteUse(of userID: ObjectId, _ pool: PostgresPool) async throws {
        try await pool.query(
            "UPDATE tombolo.credential SET is_unused = false WHERE user_id = $1", [.bytea(userID.bytes)])
    }

    /// Whether an account has the address, even a disabled one.
    static func exists(email: String, _ pool: PostgresPool) async throws -> Bool {
        try await !pool.query("SELECT 1 FROM tombolo.account WHERE email = $1", [.text(email)]).isEmpty
    }

    /// Revokes every token of the user that was signed before this.
    /// - Returns: the generation of tokens that are valid from now on.
    @discardableResult
    static func revokeTokens(of userID: ObjectId, _ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query(
            """
            INSERT INTO tombolo.token_generation AS t (user_id, generation) VALUES ($1, 1)
            ON CONFLICT (user_id) DO UPDATE SET generation = t.generation + 1, changed_at = clock_timestamp()
            RETURNING generation
            """, [.bytea(userID.bytes)])[0, 0].int64
    }

    /// - Throws: ``ValueError`` for data that rules can't read. A CHECK of the table keeps it out.
    static func customData(_ json: String) throws(ValueError) -> [String: UserValue] {
        guard case .object(let fields) = try UserValue(json: Array(json.utf8)) else {
            throw ValueError("The custom data of an account isn't a JSON object.")
        }
        return fields
    }

    /// Replaces an account's custom data, even if the account is disabled.
    /// - Returns: the account's user, or nil if no account has the address.
    static func setCustomData(_ json: String, email: String, _ pool: PostgresPool) async throws -> ObjectId? {
        do {
            return try await pool.transaction { connection in
                let result = try await connection.query(
                    """
                    UPDATE tombolo.account SET custom_data = $2::text::jsonb WHERE email = $1
                    RETURNING id, custom_data::text
                    """, [.text(email), .text(json)])
                guard let row = result.first else { return nil }
                // Data that can't be read back would lock the user out.
                let stored = try row[1].string
                _ = try customData(stored)
                // PostgreSQL has kept one of two keys with the same bytes.
                if let repeated = RepeatedMember(in: stored.utf8) {
                    let name = repeated.name.shortened(toByteCount: 60)
                    throw ValueError("two keys of one object look the same: '\(name)'.")
                }
                return ObjectId(bytes: try row[0].bytes)
            }
        } catch let error as ValueError {
            throw AuthenticationError.invalidCustomData(reason: "rules can't read it: \(error.message)")
        } catch let error as PostgresError where error.code == .checkViolation {
            throw AuthenticationError.invalidCustomData(
                reason: "it must be a JSON object of at most \(AccountRegistry.maximumCustomDataByteCount) bytes.")
        } catch let error as PostgresError where error.code.errorClass == "22" || error.code.errorClass == "54" {
            let detail = error.detail.map { " \($0)" } ?? ""
            throw AuthenticationError.invalidCustomData(reason: "\(error.message).\(detail)")
        }
    }

    /// Disables an account or enables it. Tokens from before it was disabled stay revoked.
    /// - Returns: the account's user, or nil if no account has the address.
    static func setEnabled(_ isEnabled: Bool, email: String, _ pool: PostgresPool) async throws -> ObjectId? {
        try await setEnabled(isEnabled, "email", .text(email), pool)
    }

    /// The same by the user's id.
    /// - Returns: whether there is such an account.
    static func setEnabled(_ isEnabled: Bool, _ userID: ObjectId, _ pool: PostgresPool) async throws -> Bool {
        try await setEnabled(isEnabled, "id", .bytea(userID.bytes), pool) != nil
    }

    private static func setEnabled(
        _ isEnabled: Bool, _ column: String, _ value: PostgresParameter, _ pool: PostgresPool
    ) async throws -> ObjectId? {
        let result = try await pool.query(
            """
            WITH known AS (
                SELECT id, disabled_at FROM tombolo.account WHERE \(column) = $1 FOR UPDATE
            ), changed AS (
                UPDATE tombolo.account AS a
                SET disabled_at = CASE WHEN $2 THEN NULL ELSE coalesce(a.disabled_at, clock_timestamp()) END
                FROM known WHERE a.id = known.id RETURNING a.id, known.disabled_at IS NOT NULL AS was_disabled
            ), revoked AS (
                INSERT INTO tombolo.token_generation AS t (user_id, generation)
                SELECT id, 1 FROM changed WHERE $2 AND was_disabled
                ON CONFLICT (user_id) DO UPDATE SET generation = t.generation + 1, changed_at = clock_timestamp()
            ) SELECT id FROM changed
            """, [value, .bool(isEnabled)])
        return try result.first.flatMap { ObjectId(bytes: try $0[0].bytes) }
    }
}
