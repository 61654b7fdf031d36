import PostgresClient
import TestSupport
import Testing

@Suite struct PipelineTests {
    @Test("A pipeline of 5,000 statements of 20 kB doesn't deadlock")
    func largePipeline() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8, body bytea)")
        // Each goes to the server and comes back: 100 MB both ways, far more than the socket's buffers hold.
        let statements = (0..<5_000 as Range<Int64>).map { number in
            PostgresStatement(
                "INSERT INTO t VALUES ($1, $2) RETURNING n, body",
                [.int64(number), .bytea([UInt8](repeating: UInt8(number & 255), count: 20_000))])
        }
        let results = try await connection.pipeline(statements)
        #expect(results.count == 5_000)
        for (index, result) in results.enumerated() where index % 500 == 0 {
            #expect(try result[0, 0].int64 == Int64(index))
            #expect(try result[0, 1].bytes.count == 20_000)
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 5_000)
        #expect(connection.transactionStatus == .idle)
    }

    @Test("An error in a pipeline undoes all of it and names the statement")
    func pipelineError() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8 PRIMARY KEY)")
        let insert = "INSERT INTO t VALUES ($1)"
        for _ in 0..<3 {
            let error = await PostgresTest.error {
                try await connection.pipeline([
                    .init(insert, [1]), .init(insert, [2]), .init(insert, [1]), .init("SELECT nonsense"),
                    .init(insert, [3]),
                ])
            }
            #expect(error?.statementIndex == 2)
            #expect(error?.code == .uniqueViolation)
            #expect(error?.sql == insert)
            #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 0)
        }
        let results = try await connection.pipeline([.init(insert, [1]), .init(insert, [2]), .init("SELECT n FROM t")])
        #expect(results.map(\.count) == [0, 0, 2])
    }

    @Test("An early error stops a large pipeline")
    func earlyPipelineError() async throws {
        let connection = try await PostgresTest.connect()
        var statements = (0..<2_000).map { _ in
            PostgresStatement("SELECT $1", [.bytea([UInt8](repeating: 1, count: 50_000))])
        }
        statements[3] = "SELECT 1/0"
        let error = await PostgresTest.error { try await connection.pipeline(statements) }
        #expect(error?.statementIndex == 3)
        #expect(try await connection.query("SELECT 1").count == 1)
    }

    @Test("An error at a pipeline's implicit commit is reported")
    func implicitCommitError() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute(
            "CREATE TABLE t (n int8 UNIQUE DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1)")
        let error = await PostgresTest.error { try await connection.pipeline(["INSERT INTO t VALUES (1)"]) }
        #expect(error?.code == .uniqueViolation)
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 1)
    }

    @Test("A pipeline inside a transaction rolls back with it")
    func pipelineInTransaction() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8)")
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await connection.transaction { connection in
                try await connection.pipeline(["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"])
                throw Stop()
            }
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 0)
    }

    @Test("A statement that can't be sent fails the pipeline with its index")
    func unsendableStatement() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8)")
        let error = await PostgresTest.error {
            try await connection.pipeline([
                "INSERT INTO t VALUES (1)", .init("SELECT $1::text", [.untyped("a\0b")]), "INSERT INTO t VALUES (2)",
            ])
        }
        #expect(error?.statementIndex == 1)
        #expect(error?.code == .characterNotInRepertoire)
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 0)
    }

    @Test("Cancelling a pipeline at any moment leaves the connection usable")
    func cancelPipeline() async throws {
        let connection = try await PostgresTest.connect()
        for round in 0..<50 {
            let task = Task { try await connection.pipeline(["SELECT 1", "SELECT pg_sleep(600)", "SELECT 2"]) }
            for _ in 0..<round { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await connection.query("SELECT 1").count == 1)
        }
    }

    @Test("Losing the server during a pipeline is an error, not a hang")
    func lostServerInPipeline() async throws {
        let connection = try await PostgresTest.connect()
        let error = await PostgresTest.error {
            try await connection.pipeline([
                "SELECT 1", "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)", "SELECT 2",
            ])
        }
        #expect(error?.code == .adminShutdown)
        #expect(connection.transactionStatus == .closed)
    }

    @Test("A transaction of two round trips commits what its body makes from the results of the first, or nothing")
    func twoTrips() async throws {
        struct Stop: Error {}
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8 PRIMARY KEY); INSERT INTO t VALUES (1)")
        let read = PostgresStatement("SELECT max(n) FROM t")
        let insert = { (n: Int64) in PostgresStatement("INSERT INTO t VALUES ($1) RETURNING n", [.int64(n)]) }
        // Repeated, so that the statements get prepared too.
        for expected in 1...3 as ClosedRange<Int64> {
            let (found, written) = try await connection.transaction(isolation: .repeatableRead, first: [read]) {
                results in
                let found = try results[0][0, 0].int64
                return (found, last: [insert(found + 1)])
            }
            #expect(found == expected)
            #expect(try written[0][0, 0].int64 == expected + 1)
        }
        await #expect(throws: Stop.self) {
            _ = try await connection.transaction(first: [insert(10)]) { _ -> (Void, last: [PostgresStatement]) in
                throw Stop()
            }
        }
        #expect(connection.transactionStatus == .idle)
        let first = await PostgresTest.error {
            _ = try await connection.transaction(first: [insert(10), insert(1)]) { _ in ((), last: []) }
        }
        #expect(first?.code == .uniqueViolation && first?.statementIndex == 1)
        let last = await PostgresTest.error {
            _ = try await connection.transaction(first: [insert(10)]) { _ in ((), last: [insert(11), insert(1)]) }
        }
        #expect(last?.code == .uniqueViolation && last?.statementIndex == 1)
        #expect(connection.transactionStatus == .idle)
        let lost = await PostgresTest.error {
            _ = try await connection.transaction(first: [insert(10)]) { _ in
                ((), last: ["SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)"])
            }
        }
        #expect(lost?.code == .transactionResolutionUnknown)
        #expect(connection.transactionStatus == .closed)
    }
}
