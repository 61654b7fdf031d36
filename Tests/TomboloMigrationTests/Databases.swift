import PostgresClient
import TestSupport
import TomboloMigration

/// Databases of a throw-away server.
enum Databases {
    /// Who asks for a connection waits for as long as those who have one stand still.
    static let poolOptions = PostgresPool.Options(acquireTimeout: .seconds(600))

    static func withEmpty(_ body: (PostgresConnection) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        // Otherwise a plan would depend on whether another test has made the cluster's roles meanwhile.
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
