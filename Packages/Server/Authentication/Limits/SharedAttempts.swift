internal import Crypto
internal import Foundation
internal import PostgresClient

/// Counts that all servers of a database share, by the database's clock: an attacker gains nothing from using several
/// servers.
///
/// A row is only written for a failed attempt or a mail, and each write deletes some expired rows. Within a server,
/// ``LoginLimiter`` and ``AccountBackoff`` also count attempts when they begin, so that concurrent ones don't all go by
/// the earlier count.
struct SharedAttempts: Sendable {
    /// What is counted.
    enum Purpose: String, Sendable {
        /// Failed logins of an e-mail address.
        case login
        /// Wrong codes of a user's second factor.
        case code
        /// Mails to an address that anybody can request.
        case mail
        /// Mails that somebody who is logged in sends to others: invitations, and links to set a password.
        case invitation
        /// Mails to an account's owner about what was done to it.
        case notice
    }

    /// An HMAC, which reveals nothing to a reader of the database.
    struct Key: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    /// A count with its times.
    struct Count: Sendable {
        let attempts: Int
        /// How long ago the last attempt was, in seconds.
        let age: Double
        /// In how many seconds the count will be forgotten.
        let secondsLeft: Double
    }

    /// How many expired rows each write deletes: more than it can create.
    private static let sweptCount = 100

    let pool: PostgresPool
    private let secret: SymmetricKey

    init(pool: PostgresPool, tokens: TokenConfiguration) {
        self.pool = pool
        secret = SymmetricKey(data: Data(tokens.secret.utf8))
    }

    func key(_ purpose: Purpose, _ name: String) -> Key {
        let text = Data("tombolo attempt \(purpose.rawValue) \(name)".utf8)
        return Key(bytes: Array(HMAC<SHA256>.authenticationCode(for: text, using: secret)))
    }

    /// - Returns: nil if nothing is remembered.
    func count(of key: Key) async throws -> Count? {
        try await pool.query(
            "SELECT \(Self.columns) FROM tombolo.attempt WHERE key = $1 AND ends_at > now()", [.bytea(key.bytes)]
        ).first.map(Self.count)
    }

    /// Counts a failed attempt, and remembers it for this long from now.
    func addFailure(_ key: Key, memorySeconds: Double) async throws {
        _ = try await pool.query(Self.adding, Self.parameters(key, seconds: memorySeconds, lasts: true))
    }

    func forget(_ key: Key) async throws {
        _ = try await pool.query("DELETE FROM tombolo.attempt WHERE key = $1", [.bytea(key.bytes)])
    }

    /// Counts one of ``ActionLimiter/maximumMails`` mails.
    /// - Throws: ``AuthenticationError/tooManyAttempts(retryAfterSeconds:)``.
    func addMail(_ key: Key) async throws {
        try Self.check(try await pool.query(Self.adding, Self.mail(key)))
    }

    /// The same in the caller's transaction: if that is rolled back, the mail isn't counted.
    nonisolated(nonsending) func addMail(_ key: Key, _ connection: PostgresConnection) async throws {
        try Self.check(try await connection.query(Self.adding, Self.mail(key)))
    }

    // MARK: SQL

    private static let columns = """
        attempts, extract(epoch FROM now() - last_at)::float8, extract(epoch FROM ends_at - now())::float8
        """

    /// PostgreSQL runs the deletion last, and it waits for no row, so two of these statements can't deadlock.
    private static let adding = """
        WITH swept AS (
            DELETE FROM tombolo.attempt WHERE key IN (
                SELECT key FROM tombolo.attempt WHERE ends_at < now() AND key <> $1
                ORDER BY ends_at LIMIT \(sweptCount) FOR UPDATE SKIP LOCKED)
        )
        INSERT INTO tombolo.attempt AS a (key, attempts, last_at, ends_at)
        VALUES ($1, 1, now(), now() + make_interval(secs => $2))
        ON CONFLICT (key) DO UPDATE SET attempts = CASE WHEN a.ends_at > now() THEN a.attempts + 1 ELSE 1 END,
            last_at = now(), ends_at = CASE WHEN a.ends_at > now() AND NOT $3 THEN a.ends_at ELSE EXCLUDED.ends_at END
        RETURNING \(columns)
        """

    /// - Parameter lasts: whether earlier attempts are remembered as long as the new one.
    private static func parameters(_ key: Key, seconds: Double, lasts: Bool) -> [PostgresParameter] {
        [.bytea(key.bytes), .double(seconds), .bool(lasts)]
    }

    private static func mail(_ key: Key) -> [PostgresParameter] {
        parameters(key, seconds: ActionLimiter.mailWindowSeconds, lasts: false)
    }

    private static func check(_ added: PostgresResult) throws {
        guard let count = try added.first.map(count), count.attempts > ActionLimiter.maximumMails else { return }
        throw AuthenticationError.tooManyAttempts(retryAfterSeconds: max(1, Int(count.secondsLeft.rounded(.up))))
    }

    private static func count(_ row: PostgresRow) throws -> Count {
        Count(attempts: try row[0].int, age: try row[1].double, secondsLeft: try row[2].double)
    }
}
