import PostgresClient
import TestSupport
import Testing

@Suite struct CancellationTests {
    /// Waits until the server process is in a statement that sleeps.
    private func waitUntilSleeping(_ processID: Int32, _ watcher: PostgresConnection) async throws {
        while true {
            let found = try await watcher.query(
                "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'", [.int32(processID)])
            if !found.isEmpty { return }
            await Task.yield()
        }
    }

    @Test("Cancelling a task cancels its running statement")
    func cancelStatement() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let watcher = try await PostgresConnection.connect(configuration)
        let task = Task { try await connection.query("SELECT pg_sleep(600)") }
        try await waitUntilSleeping(connection.processID, watcher)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await connection.query("SELECT 1")[0, 0].int64 == 1)
    }

    @Test("Cancelling a task at any moment leaves the connection usable")
    func cancelAnytime() async throws {
        let connection = try await PostgresTest.connect()
        for round in 0..<100 {
            let task = Task { try await connection.query("SELECT pg_sleep(600)") }
            for _ in 0..<round { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            // A late request must not hit the next statement.
            #expect(try await connection.query("SELECT 1")[0, 0].int64 == 1)
        }
    }

    @Test("A cancelled transaction is rolled back")
    func cancelTransaction() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let watcher = try await PostgresConnection.connect(configuration)
        try await connection.execute("CREATE TABLE t (a int)")
        let task = Task {
            try await connection.transaction { connection in
                try await connection.query("INSERT INTO t VALUES (1)")
                try await connection.query("SELECT pg_sleep(600)")
            }
        }
        try await waitUntilSleeping(connection.processID, watcher)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(connection.transactionStatus == .idle)
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 0)
    }

    /// Its first batch arrives at once; the prefetched rows never do.
    private static let endlessStream =
        "SELECT n, CASE WHEN n > 64 THEN pg_sleep(600) END FROM generate_series(1, 1000) AS n"

    @Test(
        "A task cancelled while it handles a batch doesn't wait for prefetched rows",
        .timeLimit(.minutes(15)))
    func cancellingAStreamInATransaction() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let watcher = try await PostgresConnection.connect(configuration)
        let task = Task {
            try await connection.transaction { connection in
                try await connection.stream(Self.endlessStream) { _ in try await Task.sleep(for: .seconds(600)) }
            }
        }
        try await waitUntilSleeping(connection.processID, watcher)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(connection.transactionStatus == .idle)
        #expect(try await connection.query("SELECT 1")[0, 0].int64 == 1)
    }

    @Test(
        "A task cancelled while a stream ends doesn't wait for prefetched rows",
        .timeLimit(.minutes(15)))
    func cancellingTheEndOfAStream() async throws {
        struct Stop: Error {}
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let watcher = try await PostgresConnection.connect(configuration)
        let (ending, isEnding) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await connection.transaction { connection in
                try await connection.stream(Self.endlessStream) { _ in
                    isEnding.yield()
                    throw Stop()
                }
            }
        }
        for await _ in ending { break }
        try await waitUntilSleeping(connection.processID, watcher)
        task.cancel()
        await #expect(throws: Stop.self) { try await task.value }
        #expect(connection.transactionStatus == .idle)
    }

    @Test("cancel() fails the running statement and nothing after it")
    func cancelFromOutside() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let watcher = try await PostgresConnection.connect(configuration)
        let task = Task { try await connection.query("SELECT pg_sleep(600)") }
        try await waitUntilSleeping(connection.processID, watcher)
        connection.cancel()
        let error = await PostgresTest.error { _ = try await task.value }
        #expect(error?.code == .queryCanceled)
        connection.cancel()
        #expect(try await connection.query("SELECT 1").count == 1)
    }

    @Test("A statement timeout is a PostgresError, not a CancellationError")
    func statementTimeout() async throws {
        var configuration = try await TestCluster.shared().createDatabase()
        configuration.statementTimeout = .milliseconds(10)
        let connection = try await PostgresConnection.connect(configuration)
        let error = await PostgresTest.error { try await connection.query("SELECT pg_sleep(600)") }
        #expect(error?.code == .queryCanceled)
    }
}
