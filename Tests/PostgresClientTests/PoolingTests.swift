import PostgresClient
import TestSupport
import Testing

/// Whether a connection notices a pooler between itself and PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct PoolingTests {
    private static func pooling(_ configuration: PostgresConfiguration) async throws -> PostgresPooling {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            let pooling = try await connection.pooling()
            await connection.close()
            return pooling
        } catch {
            await connection.close()
            throw error
        }
    }

    private static func through(_ pooler: TestPooler, _ configuration: PostgresConfiguration) -> PostgresConfiguration {
        var configuration = configuration
        configuration.keywords["host"] = pooler.folder
        return configuration
    }

    @Test("without a pooler, none is found")
    func direct() async throws {
        let database = try await TestCluster.shared().createDatabase()
        #expect(try await Self.pooling(database) == .none)
    }

    @Test(
        "PgBouncer's modes are told apart, whatever order it hands out its connections in",
        arguments: TestPooler.Mode.allCases, ["0", "1"])
    func modes(_ mode: TestPooler.Mode, roundRobin: String) async throws {
        let cluster = try await TestCluster.shared()
        let database = try await cluster.createDatabase()
        try await TestPooler.with(mode, before: cluster, settings: ["server_round_robin": roundRobin]) { pooler in
            let configuration = Self.through(pooler, database)
            let expected: PostgresPooling = mode == .session ? .session : .transaction
            let alone = try await Self.pooling(configuration)
            #expect(alone == expected, "\(pooler.log)")
            // Others use the pooler at the same time, and leave connections behind.
            let pool = PostgresPool(configuration: configuration, options: .init(maximumConnections: 4))
            let others = Task {
                await withDiscardingTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            while !Task.isCancelled {
                                _ = try? await pool.withConnection { try await $0.execute("SELECT pg_sleep(0.001)") }
                            }
                        }
                    }
                }
            }
            for _ in 0..<5 {
                let found = try await Self.pooling(configuration)
                #expect(found == expected, "\(pooler.log)")
            }
            others.cancel()
            await others.value
            await pool.shutdown()
        }
    }
}
