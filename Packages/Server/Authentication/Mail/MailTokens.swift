internal import Foundation
internal import PostgresClient
internal import TomboloModel

/// The SQL for mailed tokens. Each is valid once and for a limited time; a newer one for the same purpose replaces it.
enum MailTokens {
    /// How long a token is valid that its owner requested, in seconds.
    static let lifetimeSeconds: Int64 = 30 * 60
    /// How long a token is valid for somebody who doesn't expect it, in seconds.
    static let welcomeLifetimeSeconds: Int64 = 7 * 24 * 60 * 60
    static let secretByteCount = 32
    /// How many expired tokens each new one deletes.
    private static let sweptCount = 100

    /// The initial data of an account whose address is confirmed.
    struct Registration: Sendable {
        let displayName: String
        let hash: PasswordHash
    }

    /// The mailed text, and the id that goes with it.
    struct Secret: Sendable {
        let id = ObjectId.generate()
        let bytes = [UInt8].random(count: MailTokens.secretByteCount)

        var text: String { bytes.base64URL }
    }

    static func insert(
        _ secret: Secret, to purpose: Mail.Purpose, email: String, user: ObjectId? = nil,
        registration: Registration? = nil, lifetimeSeconds: Int64 = lifetimeSeconds, now: Int64,
        _ connection: PostgresConnection
    ) async throws {
        try await connection.query(
            """
            DELETE FROM tombolo.mail_token WHERE (email = $1 AND purpose = $2) OR id IN (
                SELECT id FROM tombolo.mail_token WHERE expires_at < $3 LIMIT \(sweptCount))
            """, [.text(email), .text(purpose.rawValue), .timestamptz(microseconds: now)])
        try await connection.query(
            """
            INSERT INTO tombolo.mail_token (id, purpose, email, user_id, secret_hash, expires_at, display_name, rounds,
                block_size, parallelism, salt, key)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """,
            [
                .bytea(secret.id.bytes), .text(purpose.rawValue), .text(email), .bytea(user?.bytes),
                .bytea(secret.bytes.sha256), .timestamptz(microseconds: now + lifetimeSeconds * 1_000_000),
                .text(registration?.displayName), .int64((registration?.hash.parameters.rounds).map(Int64.init)),
                .int64((registration?.hash.parameters.blockSize).map(Int64.init)),
                .int64((registration?.hash.parameters.parallelism).map(Int64.init)),
                .bytea(registration?.hash.salt), .bytea(registration?.hash.key),
            ])
    }

    /// Takes a registration that waits for its confirmation, to mail another token for it.
    static func registration(
        email: String, now: Int64, _ connection: PostgresConnection
    ) async throws -> Registration? {
        let result = try await connection.query(
            """
            SELECT display_name, rounds, block_size, parallelism, salt, key FROM tombolo.mail_token
            WHERE email = $1 AND purpose = 'confirm' AND expires_at > $2 FOR UPDATE
            """, [.text(email), .timestamptz(microseconds: now)])
        return try result.first.flatMap { try registration($0, at: 0) }
    }

    private static func registration(_ row: PostgresRow, at column: Int) throws -> Registration? {
        guard let name = try row[column].nonNull?.string, !row[column + 1].isNull else { return nil }
        let parameters = PasswordParameters(
            rounds: try row[column + 1].int, blockSize: try row[column + 2].int, parallelism: try row[column + 3].int)
        return Registration(
            displayName: name,
            hash: PasswordHash(parameters: parameters, salt: try row[column + 4].bytes, key: try row[column + 5].bytes))
    }

    /// The token's owner, if ``take(id:text:for:now:_:)`` would accept it now.
    static func owner(
        id: String, text: String, for purpose: Mail.Purpose, now: Int64, _ pool: PostgresPool
    ) async throws -> PasswordOwner? {
        guard let parameters = parameters(id: id, text: text, for: purpose, now: now) else { return nil }
        let found = try await pool.query(
            """
            SELECT email, coalesce(display_name, (SELECT a.display_name FROM tombolo.account a WHERE a.id = user_id), '')
            FROM tombolo.mail_token WHERE \(isGood)
            """, parameters)
        return try found.first.map { PasswordOwner(email: try $0[0].string, name: try $0[1].string) }
    }

    /// An account's token is only valid while the account has the address that it was mailed to.
    private static let isGood = """
        id = $1 AND secret_hash = $2 AND purpose = $3 AND expires_at > $4 AND (user_id IS NULL
            OR EXISTS (SELECT FROM tombolo.account a WHERE a.id = user_id AND a.email = mail_token.email))
        """

    /// - Returns: nil for text that can't be a token.
    private static func parameters(
        id: String, text: String, for purpose: Mail.Purpose, now: Int64
    ) -> [PostgresParameter]? {
        guard let id = try? ObjectId(string: id), text.utf8.count <= 128, let secret = [UInt8](base64URL: text) else {
            return nil
        }
        return [.bytea(id.bytes), .bytea(secret.sha256), .text(purpose.rawValue), .timestamptz(microseconds: now)]
    }

    /// Uses a token up.
    /// - Returns: nil if it's wrong, expired, already used, or for something else.
    static func take(
        id: String, text: String, for purpose: Mail.Purpose, now: Int64, _ connection: PostgresConnection
    ) async throws -> (email: String, user: ObjectId?, registration: Registration?)? {
        guard let parameters = parameters(id: id, text: text, for: purpose, now: now) else { return nil }
        let result = try await connection.query(
            """
            DELETE FROM tombolo.mail_token WHERE \(isGood)
            RETURNING email, user_id, display_name, rounds, block_size, parallelism, salt, key
            """, parameters)
        guard let row = result.first else { return nil }
        return (
            try row[0].string, try row[1].nonNull.flatMap { ObjectId(bytes: try $0.bytes) },
            try registration(row, at: 2)
        )
    }
}
