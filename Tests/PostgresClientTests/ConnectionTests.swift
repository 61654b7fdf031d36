import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct ConnectionTests {
    @Test("A query returns its rows, with columns by position and by name")
    func query() async throws {
        let connection = try await PostgresTest.connect()
        let result = try await connection.query("SELECT $1::int8 + 1 AS n, 'a' AS t", [41])
        #expect(result.count == 1 && result.columnCount == 2)
        #expect(try result[0, "n"].int64 == 42)
        #expect(try result[0]["t"].string == "a")
    }

    @Test("Settings in the configuration reach the server")
    func settings() async throws {
        var configuration = try await TestCluster.shared().createDatabase()
        configuration.applicationName = "my app"
        configuration.statementTimeout = .milliseconds(1_234)
        configuration.settings = ["search_path": "\"a b\", c", "work_mem": "5MB"]
        let connection = try await PostgresConnection.connect(configuration)
        func show(_ name: String) async throws -> String { try await connection.query("SHOW \(name)")[0, 0].string }
        #expect(try await show("application_name") == "my app")
        #expect(try await show("statement_timeout") == "1234ms")
        #expect(try await show("work_mem") == "5MB")
        #expect(try await connection.query("SELECT current_setting('search_path')")[0, 0].string == "\"a b\", c")
    }

    @Test("Cached statements stay correct across parameter types and when the cache is full")
    func statementCache() async throws {
        var configuration = try await TestCluster.shared().createDatabase()
        configuration.preparedStatementLimit = 5
        let connection = try await PostgresConnection.connect(configuration)
        for round in 0..<4 {
            for number in 0..<20 {
                let sql = "SELECT \(number), $1"
                for _ in 0..<2 {
                    #expect(try await connection.query(sql, [.int64(Int64(round))])[0, 1].int64 == Int64(round))
                    #expect(try await connection.query(sql, [.text("t")])[0, 1].string == "t")
                }
            }
        }
        // The server's list shrinks with the cache.
        let prepared = try await connection.query("SELECT count(*) FROM pg_prepared_statements")
        #expect(try prepared[0, 0].int64 <= 5 + 16)
    }

    @Test("SQL that is run again is prepared; SQL that runs once isn't")
    func preparing() async throws {
        let connection = try await PostgresTest.connect()
        for _ in 0..<3 { try await connection.query("SELECT $1::int8 AS repeated", [1]) }
        try await connection.query("SELECT $1::int8 AS once", [1])
        let names = try await connection.query("SELECT statement FROM pg_prepared_statements")
        #expect(try names.map { try $0[0].string } == ["SELECT $1::int8 AS repeated"])
    }

    @Test("Prepared statements survive ALTER TABLE and DISCARD ALL")
    func stalePreparedStatements() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
        for _ in 0..<3 { #expect(try await connection.query("SELECT * FROM t").columnCount == 1) }
        try await connection.execute("ALTER TABLE t ADD b int")
        #expect(try await connection.query("SELECT * FROM t").columnCount == 2)
        for _ in 0..<3 { #expect(try await connection.query("SELECT * FROM t").columnCount == 2) }
        try await connection.execute("DISCARD ALL")
        for _ in 0..<3 { #expect(try await connection.query("SELECT * FROM t").columnCount == 2) }
        // In a transaction it can't be repeated silently, but the caller may repeat the transaction.
        let error = await PostgresTest.error {
            try await connection.transaction { connection in
                try await connection.execute("ALTER TABLE t ADD c int")
                try await connection.query("SELECT * FROM t")
            }
        }
        #expect(error?.isRetryable == true)
        try await connection.transaction { connection in
            try await connection.execute("ALTER TABLE t ADD c int")
            #expect(try await connection.query("SELECT * FROM t").columnCount == 3)
        }
    }

    @Test("A transaction commits when its body returns and rolls back when it throws")
    func transactions() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (a int)")
        let answer = try await connection.transaction(isolation: .serializable) { connection in
            try await connection.query("INSERT INTO t VALUES (1)")
            #expect(connection.transactionStatus == .inTransaction)
            #expect(try await connection.query("SHOW transaction_isolation")[0, 0].string == "serializable")
            return 7
        }
        #expect(answer == 7)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await connection.transaction { connection in
                try await connection.query("INSERT INTO t VALUES (2)")
                throw Stop()
            }
        }
        let readOnly = await PostgresTest.error {
            _ = try await connection.transaction(readOnly: true) { try await $0.query("INSERT INTO t VALUES (3)") }
        }
        #expect(readOnly?.code == .readOnlyTransaction)
        #expect(connection.transactionStatus == .idle)
        #expect(try await connection.query("SELECT sum(a) FROM t")[0, 0].int64 == 1)
    }

    @Test("A transaction whose body swallowed an SQL error throws instead of committing")
    func swallowedError() async throws {
        let connection = try await PostgresTest.connect()
        let error = await PostgresTest.error {
            try await connection.transaction { connection in
                _ = try? await connection.query("SELECT 1/0")
            }
        }
        #expect(error?.code == .inFailedTransaction)
        #expect(connection.transactionStatus == .idle)
        let nested = await PostgresTest.error {
            try await connection.transaction { try await $0.transaction { _ in } }
        }
        #expect(nested?.code == .activeTransaction)
    }

    @Test("A savepoint that fails undoes only its own work")
    func savepoints() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (a int PRIMARY KEY)")
        try await connection.transaction { connection in
            for value in [1, 2, 1, 3] as [Int64] {
                do {
                    try await connection.savepoint { connection in
                        try await connection.savepoint {
                            try await $0.query("INSERT INTO t VALUES ($1)", [.int64(value)])
                        }
                    }
                } catch let error as PostgresError where error.code == .uniqueViolation {}
            }
        }
        #expect(try await connection.query("SELECT sum(a) FROM t")[0, 0].int64 == 6)
    }

    @Test("200 tasks sharing a connection each get their own answer")
    func sharing() async throws {
        let connection = try await PostgresTest.connect()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 as Range<Int64> {
                group.addTask { try await connection.query("SELECT $1", [.int64(number)])[0, 0].int64 == number }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test("A query on a closed connection says the connection is closed")
    func closing() async throws {
        let connection = try await PostgresTest.connect()
        await connection.close()
        await connection.close()
        let error = await PostgresTest.error { try await connection.query("SELECT 1") }
        #expect(error?.code == .connectionDoesNotExist)
        #expect(connection.transactionStatus == .closed)
    }

    @Test("A terminated backend is reported with the server's reason and can be retried")
    func terminatedBackend() async throws {
        let configuration = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(configuration)
        let error = await PostgresTest.error {
            try await connection.query("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)")
        }
        #expect(error?.code == .adminShutdown)
        #expect(error?.isRetryable == true)
        let after = await PostgresTest.error { try await connection.query("SELECT 1") }
        #expect(after?.code.errorClass == "08")
    }

    @Test("A connection lost during COMMIT reports an unknown outcome")
    func lostCommit() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute(
            """
            CREATE TABLE t (a int);
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(60); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER die AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION die()
            """)
        let error = await PostgresTest.error {
            _ = try await connection.transaction { try await $0.query("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.code == .transactionResolutionUnknown)
    }

    @Test("COPY in query() is refused with a hint to use copyOut")
    func copyInQuery() async throws {
        let connection = try await PostgresTest.connect()
        let error = await PostgresTest.error { try await connection.query("COPY (SELECT 1) TO STDOUT") }
        #expect(error?.hint?.contains("copyOut") == true)
    }
}
