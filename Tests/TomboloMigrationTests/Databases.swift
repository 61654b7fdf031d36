import PostgresClient
import TestSupport

/// Databases of a throw-away server.
enum Databases {
    static func withEmpty(_ body: (PostgresConnection) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        try await body(connection)
        await connection.close()
    }
}
