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

    /// Who asks for a connection waits for as long as those who have one stand still.
    static let poolOptions = PostgresPool.Options(acquireTimeout: .seconds(600))

    /// Retention whose steps may take as long as they like: none waits for others that long.
    var retention: ChangelogRetention {
        ChangelogRetention(configuration: configuration, stepTimeout: .seconds(600))
    }

    static func make(_ schema: Schema, on cluster: TestCluster? = nil) async throws -> TestDatabase {
        let owner: TestCluster
        if let cluster { owner = cluster } else { owner = try await TestCluster.shared() }
        let configuration = try await owner.createDatabase()
        let pool = PostgresPool(configuration: configuration, options: Self.poolOptions)
        try await pool.withConnection { try await PostgresSchema.install(schema, on: $0) }
        // Ticks follow changes alone, however long a test stands still after one.
        let store = try await PostgresServerStore.open(
            schema: schema, pool: pool, maximumBulkRowCount: BulkRowSearch.maximumRowCount,
            snapshotAge: .seconds(86_400), logger: Logger(label: "tombolo.store"))
        return TestDatabase(configuration: configuration, pool: pool, schema: schema, store: store)
    }

    /// As the store's, again while no sequencer has made a tick that can be read, as one that has only just begun, or that was
    /// not heard of for too long.
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

    /// As the store's, again while PostgreSQL hasn't noticed that an earlier sequencer's connection was closed.
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

    /// As the store's, again while others hold rows for longer than an upload waits, as a session does.
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
