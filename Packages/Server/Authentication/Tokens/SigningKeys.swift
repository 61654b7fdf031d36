internal import Foundation
internal import JWTKit
public import PostgresClient

/// The installation's signing keys in the database, for `migration-tool keys`.
public struct SigningKeys: Sendable {
    /// Held while a key is made, so that two servers that start on an empty database make only one.
    private static let lockKey: Int64 = 0x746f6d626f6b6579

    private let pool: PostgresPool
    private let secret: String

    /// - Parameter tokens: has the secret under which new private keys are sealed.
    public init(pool: PostgresPool, tokens: TokenConfiguration) {
        self.pool = pool
        secret = tokens.secret
    }

    /// All keys, including retired ones, newest first.
    public func list() async throws -> [SigningKey] { try await Self.keys("true", pool) }

    /// Makes a key, which signs from now on. Tokens of the others stay valid until those keys are retired.
    /// - Throws: ``AuthenticationError/tooManyKeys``, or the database's error.
    @discardableResult
    public func rotate() async throws -> SigningKey {
        try await make { count in
            guard count < SigningKey.maximumCount else { throw AuthenticationError.tooManyKeys }
            return true
        }
    }

    /// Makes the first key unless there is an active one.
    func makeFirst() async throws { try await make { $0 == 0 } }

    /// Refuses the tokens of a key from now on, and deletes its private part.
    /// - Returns: false if it was already retired.
    /// - Throws: ``AuthenticationError/noSuchKey(id:)``; ``AuthenticationError/lastKey`` for the only active key.
    @discardableResult
    public func retire(_ id: String) async throws -> Bool {
        try await pool.transaction { connection in
            try await connection.query("SELECT pg_advisory_xact_lock($1)", [.int64(Self.lockKey)])
            let keys = try await connection.query(
                "SELECT kid, retired_at IS NULL FROM tombolo.signing_key ORDER BY created_at")
            guard let row = try keys.first(where: { try $0[0].string == id }) else {
                throw AuthenticationError.noSuchKey(id: id)
            }
            guard try row[1].bool else { return false }
            guard try keys.count(where: { try $0[1].bool }) > 1 else { throw AuthenticationError.lastKey }
            try await connection.query(
                "UPDATE tombolo.signing_key SET retired_at = clock_timestamp() WHERE kid = $1", [.text(id)])
            try await connection.query("DELETE FROM tombolo.signing_key_secret WHERE kid = $1", [.text(id)])
            return true
        }
    }

    /// - Parameter isWanted: is called with the number of active keys.
    @discardableResult
    private func make(_ isWanted: @Sendable (Int) throws -> Bool) async throws -> SigningKey {
        let privateKey = ES256PrivateKey()
        let id = [UInt8].random(count: 9).base64URL
        let publicText = privateKey.publicKey.pemRepresentation
        let sealed = try SealedKey.seal(privateKey.pemRepresentation, id: id, secret: secret)
        try await pool.transaction { connection in
            try await connection.query("SELECT pg_advisory_xact_lock($1)", [.int64(Self.lockKey)])
            let count = try await connection.query(
                "SELECT count(*) FROM tombolo.signing_key WHERE retired_at IS NULL")[0, 0].int
            guard try isWanted(count) else { return }
            try await connection.query(
                "INSERT INTO tombolo.signing_key (kid, algorithm, public_key) VALUES ($1, $2, $3)",
                [.text(id), .text(SigningKey.algorithm), .text(publicText)])
            try await connection.query(
                "INSERT INTO tombolo.signing_key_secret (kid, sealed) VALUES ($1, $2)", [.text(id), .bytea(sealed)])
        }
        return SigningKey(id: id, createdAt: Date(), retiredAt: nil, publicKey: publicText)
    }

    /// The active keys, newest first.
    static func counting(_ pool: PostgresPool) async throws -> [SigningKey] {
        try await keys("retired_at IS NULL AND algorithm = '\(SigningKey.algorithm)'", pool)
    }

    private static func keys(_ condition: String, _ pool: PostgresPool) async throws -> [SigningKey] {
        let result = try await pool.query(
            """
            SELECT kid, created_at, retired_at, public_key FROM tombolo.signing_key WHERE \(condition)
            ORDER BY created_at DESC, kid LIMIT 1000
            """)
        return try result.map { row in
            SigningKey(
                id: try row[0].string, createdAt: Date(microseconds: try row[1].timestampMicroseconds),
                retiredAt: try row[2].nonNull.map { Date(microseconds: try $0.timestampMicroseconds) },
                publicKey: try row[3].string)
        }
    }

    /// The private part of a key, in PEM.
    /// - Returns: nil if it can't be opened with the secret.
    static func privateKey(_ id: String, secret: String, _ pool: PostgresPool) async throws -> String? {
        let result = try await pool.query("SELECT sealed FROM tombolo.signing_key_secret WHERE kid = $1", [.text(id)])
        return try result.first.flatMap { SealedKey.open(try $0[0].bytes, id: id, secret: secret) }
    }
}

/// The tables of signing keys. Public parts are kept apart from the sealed private ones, which only database roles that
/// log people in may read.
enum KeySchema {
    static let sql = """
        CREATE TABLE IF NOT EXISTS tombolo.signing_key (
            kid text PRIMARY KEY CHECK (kid ~ '^[A-Za-z0-9_-]{1,64}$'),
            algorithm text NOT NULL CHECK (algorithm = '\(SigningKey.algorithm)'),
            public_key text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            retired_at timestamptz
        );
        COMMENT ON TABLE tombolo.signing_key IS
            'Keys of access tokens; the newest signs. Tokens of a key with retired_at are refused.';
        CREATE TABLE IF NOT EXISTS tombolo.signing_key_secret (
            kid text PRIMARY KEY REFERENCES tombolo.signing_key (kid) ON DELETE CASCADE,
            sealed bytea NOT NULL
        );
        COMMENT ON TABLE tombolo.signing_key_secret IS
            'Private keys, sealed under the servers'' secret: for the login services only.';
        """

    static let tables: Set<String> = ["signing_key", "signing_key_secret"]
}
