import PostgresClient
import TestSupport
import Testing
import TomboloChangesets
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloPostgresStore

/// A changelog that was restored into another cluster.
@Suite struct ForeignChangelogTests {
    private func withHistory(_ body: (TestDatabase, PostgresConnection, _ newest: Tick) async throws -> Void)
        async throws
    {
        let database = try await TestDatabase.make(try TestModel.schema(), on: try await TestCluster.shared())
        let connection = try await database.connect()
        for number in 1...3 {
            try await connection.execute("INSERT INTO account VALUES (\(number), 0)")
            _ = try await database.store.makeTick()
        }
        await database.store.resign()
        try await body(database, connection, try await database.store.latestTick())
        await connection.close()
        await database.finish()
    }

    private func changeCount(_ connection: PostgresConnection) async throws -> Int64 {
        try await connection.query("SELECT count(*) FROM tombolo.changelog")[0, 0].int64
    }

    @Test("A changelog that is being written to isn't taken for another cluster's")
    func busy() async throws {
        try await withHistory { database, connection, newest in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 1...3 {
                    group.addTask {
                        let connection = try await database.connect()
                        while !Task.isCancelled {
                            try await connection.query(
                                "UPDATE account SET balance = balance + 1 WHERE _id = $1", [.int64(Int64(writer))])
                        }
                        await connection.close()
                    }
                }
                // The check runs at each election.
                for _ in 0..<1_000 { #expect(try await !ForeignChangelog.remove(connection)) }
                group.cancelAll()
                do { try await group.waitForAll() } catch is CancellationError {}
            }
            #expect(try await database.store.latestTick() == newest)
        }
    }

    @Test("A changelog from the cluster's own past is kept")
    func own() async throws {
        try await withHistory { database, connection, newest in
            let count = try await changeCount(connection)
            let next = try #require(try await database.makeTick())
            #expect(next.number == newest.number + 1)
            #expect(try await changeCount(connection) == count)
        }
    }

    @Test(
        "A changelog whose transaction IDs are ahead of the cluster's is emptied, and ticks restart at 1",
        arguments: [
            "UPDATE tombolo.tick SET snapshot = '90000000:90000000:'::pg_snapshot",
            "UPDATE tombolo.tick SET xid = '90000000'", "UPDATE tombolo.changelog SET xid = '90000000'",
        ])
    func ahead(change: String) async throws {
        try await withHistory { database, connection, newest in
            try await connection.execute(
                "INSERT INTO tombolo.retention (floor, first_seq, set_at) VALUES (1, 0, 0); \(change)")
            let first = try #require(try await database.makeTick())
            #expect(first.number == 1 && first.token != newest.token)
            #expect(try await changeCount(connection) == 0)
            #expect(try await connection.query("SELECT 1 FROM tombolo.retention").isEmpty)
            // A client that was just on a tick of the old history isn't refused for good.
            let error = await #expect(throws: PostgresStoreError.self) {
                try await database.store.withReader { try await $0.difference(from: newest) }
            }
            #expect(error?.code == .historyLost && error?.isRetryable == true)
            // New changes are visible.
            try await connection.execute("INSERT INTO account VALUES (4, 0)")
            let second = try #require(try await database.store.makeTick())
            let difference = try await database.store.withReader { try await $0.difference(from: first) }
            #expect(second.number == 2 && difference.changes.count == 1)
        }
    }
}
