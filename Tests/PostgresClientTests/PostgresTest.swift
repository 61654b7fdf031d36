import PostgresClient
import TestSupport

/// Helpers shared by the suites.
enum PostgresTest {
    /// A connection to a new database.
    static func connect() async throws -> PostgresConnection {
        try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
    }

    /// The error that `body` throws, or nil if it throws none or another type.
    static func error(_ body: () async throws -> Void) async -> PostgresError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? PostgresError
        }
    }
}
