import PostgresClient
import TestSupport
import TomboloModel
import TomboloPostgresStore

/// A separate database with the tables of a schema, and a store on it.
struct TestDatabase: Sendable {
    let configuration: PostgresConfiguration
    let pool: PostgresPool
    let schema: Schema
    let store: PostgresServerStore

    static func make(_ schema: Schema, on cluster: TestCluster? = nil) async throws -> TestDatabase {
        let owner: TestCluster
        if let cluster { owner = cluster } else { owner = try await TestCluster.shared() }
        let configuration = try await owner.createDatabase()
        let pool = PostgresPool(configuration: configuration)
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        let store = try await PostgresServerStore.open(schema: schema, pool: pool)
        return TestDatabase(configuration: configuration, pool: pool, schema: schema, store: store)
    }

    func connect() async throws -> PostgresConnection { try await PostgresConnection.connect(configuration) }

    func finish() async {
        await store.resign()
        await pool.shutdown()
    }
}
