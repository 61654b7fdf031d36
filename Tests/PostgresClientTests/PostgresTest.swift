import PostgresClient
import TestSupport

/// What the suites share.
enum PostgresTest {
    /// A connection to a database of its own.
    static func connect() async throws -> PostgresConnection {
        try await PostgresConnection.connect(try await TestCluster.shared().createDatabase())
    }

    /// The error that `body` throws; records a failure when it throws none.
    static func error(_ body: () async throws -> Void) async -> PostgresError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? PostgresError
        }
    }
}
