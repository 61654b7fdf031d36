import PostgresClient
import TestSupport
import TomboloMigration

/// Databases of a temporary server.
enum Databases {
    /// The timeout is long, so that a busy machine that stalls the connections' holders doesn't fail a test.
    static let poolOptions = PostgresPool.Options(acquireTimeout: .seconds(600))

    static func withEmpty(_ body: (PostgresConnection) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        // Create the roles first. Otherwise plans would depend on whether another test has already created them in the
        // cluster.
        for role in DatabaseRole.all {
            try await connection.execute(
                """
                DO $$ BEGIN
                    CREATE ROLE \(RoleNames().name(of: role)) NOLOGIN;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                END $$
                """)
        }
        try await body(connection)
        await connection.close()
    }
}
