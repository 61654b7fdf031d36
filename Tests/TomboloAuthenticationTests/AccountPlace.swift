import Foundation
import PostgresClient
import TestSupport
import TomboloModel
import TomboloPostgresStore

@testable import TomboloAuthentication

/// A database that contains only accounts.
struct AccountPlace: Sendable {
    static let password = "correct horse"
    static let email = "ann@example.org"

    let pool: PostgresPool
    let tokens: TokenConfiguration
    let authenticator: Authenticator

    /// The timeout is long, so that a busy machine that stalls the connections' holders doesn't fail a test.
    static let poolOptions = PostgresPool.Options(acquireTimeout: .seconds(600))

    static func with(_ body: (AccountPlace) async throws -> Void) async throws {
        let pool = PostgresPool(
            configuration: try await TestCluster.shared().createDatabase(), options: poolOptions)
        do {
            try await pool.withConnection { connection in
                try await PostgresSchema.install(.empty, on: connection)
                try await connection.execute(AuthenticationSchema.sql)
            }
            let tokens = try TokenConfiguration(secret: String(repeating: "k", count: 40))
            try await body(AccountPlace(pool: pool, tokens: tokens, authenticator: await server(pool, tokens)))
        } catch {
            await pool.shutdown()
            throw error
        }
        await pool.shutdown()
    }

    /// Another server on the same database.
    func server() async -> Authenticator { await Self.server(pool, tokens) }

    private static func server(_ pool: PostgresPool, _ tokens: TokenConfiguration) async -> Authenticator {
        await Authenticator(pool: pool, tokens: tokens, hasher: PasswordHasher(parameters: .weakForTests))
    }

    var providers: ProviderRegistry { ProviderRegistry(pool: pool) }

    /// Configures and enables a provider, and makes the server notice at once.
    func switchOn(_ provider: String, _ settings: String = "{}") async throws {
        try await providers.set(settings, of: provider)
        try await providers.setEnabled(true, provider)
        await authenticator.providers.forget()
    }

    @discardableResult
    func register(_ email: String = Self.email) async throws -> ObjectId {
        try await authenticator.register(email: email, password: Self.password, displayName: "Ann")
    }

    /// Gives an account a second factor that only has recovery codes.
    func addSecondFactor(to user: ObjectId, recoveryCodes: [String]) async throws {
        let id = PostgresParameter.bytea(user.bytes)
        try await pool.query("UPDATE tombolo.account SET second_factor_at = now() WHERE id = $1", [id])
        for code in recoveryCodes {
            try await pool.query(
                "INSERT INTO tombolo.recovery_code (user_id, code_hash) VALUES ($1, $2)",
                [id, .bytea(RecoveryCode.hash(RecoveryCode.normalized(code)))])
        }
    }

    /// Makes every account with failed attempts wait for over an hour.
    func delayCodes() async throws {
        try await pool.execute(
            """
            UPDATE tombolo.attempt SET attempts = 20, last_at = now() + interval '1 hour',
                ends_at = now() + interval '1 day'
            """)
    }

    func login(
        _ email: String = Self.email, device: LoginDevice = LoginDevice(), now: Date = Date()
    ) async throws -> Login {
        try await authenticator.login(email: email, password: Self.password, device: device, now: now)
    }

    /// Why a session ended, or nil if it hasn't.
    func endReason(_ session: ObjectId) async throws -> String? {
        try await pool.query(
            "SELECT end_reason FROM tombolo.login_session WHERE id = $1", [.bytea(session.bytes)]
        ).first?[0].nonNull?.string
    }

    /// The keys of the account entries that `body` adds to the changelog.
    func logged(_ body: () async throws -> Void) async throws -> [String] {
        let before = try await pool.query("SELECT coalesce(max(seq), 0) FROM tombolo.changelog")[0, 0].int64
        try await body()
        return try await pool.query(
            """
            SELECT key FROM tombolo.changelog WHERE seq > $1 AND class = \(AuthenticationSchema.changelogClass)
            ORDER BY seq
            """, [.int64(before)]
        ).map { try $0[0].string }
    }
}
