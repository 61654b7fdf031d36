import Logging
import PostgresClient
import TestSupport
import TomboloChangesets
import TomboloModel
import TomboloSyncSession

@testable import TomboloPostgresStore

/// A separate database with the tables of a schema, and a store on it.
struct TestDatabase: Sendable {
    let configuration: PostgresConfiguration
    let pool: PostgresPool
    let schema: Schema
    let store: PostgresServerStore

    /// A task may wait very long for a connection, since the tests holding one may stand still.
    static let poolOptions = PostgresPool.Options(acquireTimeout: .seconds(600))

    /// Retention whose steps may take arbitrarily long: none waits for others for as long as this timeout.
    var retention: ChangelogRetention {
        ChangelogRetention(configuration: configuration, stepTimeout: .seconds(600))
    }

    static func make(_ schema: Schema, on cluster: TestCluster? = nil) async throws -> TestDatabase {
        let owner: TestCluster
        if let cluster { owner = cluster } else { owner = try await TestCluster.shared() }
        let configuration = try await owner.createDatabase()
        let pool = PostgresPool(configuration: configuration, options: Self.poolOptions)
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        // Ticks follow changes only, however long a test stands still after one.
        let store = try await PostgresServerStore.open(
            schema: schema, pool: pool, maximumBulkRowCount: BulkRowSearch.maximumRowCount,
            snapshotAge: .seconds(86_400), logger: Logger(label: "tombolo.store"))
        return TestDatabase(configuration: configuration, pool: pool, schema: schema, store: store)
    }

    /// The store's method, retried while there is no readable tick: because a sequencer has only just begun, or because none has
    /// been heard from for too long.
    func withReader<R: Sendable>(_ body: @Sendable (any TickReader) async throws -> R) async throws -> R {
        for _ in 0..<60 {
            do {
                return try await store.withReader(body)
            } catch let error as PostgresStoreError where error.code == .noSequencer {
                continue
            }
        }
        return try await store.withReader(body)
    }

    /// The store's method, retried until PostgreSQL notices that an earlier sequencer's connection was closed.
    @discardableResult
    func makeTick() async throws -> Tick? {
        while true {
            do {
                return try await store.makeTick()
            } catch let error as PostgresStoreError where error.code == .notElected {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// The store's method, retried, as a session would, while others hold rows for longer than an upload waits.
    func upload(_ uploads: [Upload], by store: PostgresServerStore? = nil) async throws -> [UploadResult] {
        while true {
            do {
                return try await (store ?? self.store).upload(uploads)
            } catch let error as PostgresError where error.code == .lockNotAvailable {
                continue
            } catch let unfinished as UnfinishedUploads
                where unfinished.causes.values.allSatisfy({ ($0 as? PostgresError)?.code == .lockNotAvailable })
            {
                continue
            }
        }
    }

    func connect() async throws -> PostgresConnection { try await PostgresConnection.connect(configuration) }

    func finish() async {
        await store.resign()
        await pool.shutdown()
    }
}
