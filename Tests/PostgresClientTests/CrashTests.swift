import PostgresClient
import TestSupport
import Testing

@Suite struct CrashTests {
    /// Waits until a statement in the database is sleeping.
    private static func waitUntilSleeping(_ configuration: PostgresConfiguration) async throws {
        let watcher = try await PostgresConnection.connect(configuration)
        let sleepers = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
        while try await watcher.query(sleepers).isEmpty { await Task.yield() }
        await watcher.close()
    }

    @Test("Pool and listener recover each time the server is killed")
    func killNine() async throws {
        let cluster = try await TestCluster.start(settings: ["max_connections": "20"])
        let configuration = try await cluster.createDatabase()
        let pool = PostgresPool(
            configuration: configuration, options: .init(maximumConnections: 4, acquireTimeout: .seconds(600)))
        let listener = PostgresListener(configuration: configuration, channels: ["news"])
        async let running: Void = listener.run()
        var events = listener.events.makeAsyncIterator()
        #expect(await events.next() == .connected)
        try await pool.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        for round in 1...3 as ClosedRange<Int64> {
            let busy = Task { try await pool.query("SELECT pg_sleep(600)") }
            // If the server were killed sooner, the query would find its connection lost and open another one.
            try await Self.waitUntilSleeping(configuration)
            try await cluster.kill9()
            let error = await PostgresTest.error { _ = try await busy.value }
            #expect(error?.isRetryable == true)
            // Asked while the server is down, answered once it's up again.
            let answer = Task { try await pool.query("SELECT sum(a) FROM t") }
            try await cluster.restart()
            #expect(try await answer.value[0, 0].int64 == round)
            #expect(await events.next() == .connected)
            try await pool.query("INSERT INTO t VALUES (1)")
        }
        try await cluster.restart()
        #expect(try await pool.query("SELECT count(*) FROM t")[0, 0].int64 == 4)
        listener.stop()
        await running
        await pool.shutdown()
        await cluster.remove()
    }
}
