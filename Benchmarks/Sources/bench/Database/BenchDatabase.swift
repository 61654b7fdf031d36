import ConferenceSetup
import Foundation
import ListingModels
import Logging
import PostgresClient
import TomboloAuthentication
import TomboloMigration

/// The database used for measuring.
struct BenchDatabase: Sendable {
    static let variable = "TOMBOLO_DATABASE_URL"
    /// One connection for a measurement, and one for each of the latency measurement's writers.
    static let connections = 8

    let url: String
    let pool: PostgresPool
    /// The key of this run's access tokens.
    let tokenSecret: String

    init() throws {
        guard let url = ProcessInfo.processInfo.environment[Self.variable], !url.isEmpty else {
            throw BenchError("\(Self.variable) is not set: run 'make bench', or name an empty database.")
        }
        self.url = url
        var logger = Logger(label: "bench")
        logger.logLevel = .warning
        pool = PostgresPool(
            configuration: try PostgresConfiguration(url),
            options: .init(maximumConnections: Self.connections), logger: logger)
        tokenSecret = (0..<32).map { _ in String(UInt8.random(in: 0...255), radix: 16) }.joined(separator: "-")
    }

    /// Fails unless the database is empty. Everything in it is deleted between measurements, so it must not be in
    /// use.
    func requireEmpty() async throws {
        let found = try await pool.query(
            """
            SELECT count(*), current_database() FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('public', 'tombolo') AND c.relkind IN ('r', 'p', 'v', 'm')
            """)
        guard try found[0][0].int == 0 else {
            throw BenchError(
                "The database '\(try found[0][1].string)' has tables, and this program deletes everything in its "
                    + "database. Run 'make bench', or name an empty database in \(Self.variable).")
        }
    }

    /// Deletes everything.
    func reset() async throws {
        try await pool.execute(
            """
            SET client_min_messages = warning;
            DROP SCHEMA IF EXISTS tombolo CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public
            """)
    }

    /// Deletes everything and creates the tables of the event models, and an account.
    /// - Returns: the account's access token.
    func prepare() async throws -> String {
        try await reset()
        _ = try await pool.withConnection { connection in
            try await Conference.migrator(connection).apply()
            let listings = AppDocuments(models: try ListingModels.document(), rules: Self.rules)
            try await Migrator.toDocuments([listings], on: connection).apply()
        }
        return try await token(of: "bench")
    }

    /// Registers a user.
    /// - Returns: the user's access token, valid for half an hour.
    func token(of name: String) async throws -> String {
        let authenticator = await Authenticator(pool: pool, tokens: try TokenConfiguration(secret: tokenSecret))
        let (email, password) = ("\(name)@example.org", "a password for benchmarks")
        _ = try await authenticator.register(email: email, password: password, displayName: "Bench")
        return try await authenticator.login(email: email, password: password).token
    }

    private static let rules = """
        version: 1
        rules:
          Listing:
            - {name: everybody, applyWhen: {}, read: true, write: true}
        """

    /// Inserts listings, numbered from 0, at places `place 0`, `place 1`, …
    func insertListings(_ count: Int, placeCount: Int = 50) async throws {
        try await pool.query(
            """
            INSERT INTO listing (_id, location, price, bedrooms)
            SELECT decode(lpad(to_hex(i), 24, '0'), 'hex'), 'place ' || i % $2, 100000 + i % 400000, 1 + i % 6
            FROM generate_series(0::bigint, $1::bigint - 1) AS i
            """, [.int64(Int64(count)), .int64(Int64(placeCount))])
        try await pool.execute("ANALYZE listing")
    }

    /// The bytes of write-ahead log since the database server was initialized.
    func writeAheadPosition() async throws -> Int64 {
        try await pool.query("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")[0][0].int64
    }
}
