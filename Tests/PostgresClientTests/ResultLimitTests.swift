import PostgresClient
import TestSupport
import Testing

@Suite struct ResultLimitTests {
    private static let megabytes = "SELECT repeat('x', 1000000) FROM generate_series(1, $1::int8)"

    @Test("an answer beyond the limit fails and closes its connection, and a pool continues with another")
    func tooLarge() async throws {
        let connection = try await PostgresTest.connect()
        let pool = PostgresPool(configuration: connection.configuration, options: .init(maximumConnections: 1))
        for _ in 0..<3 {
            try await PostgresResultLimit.$bytes.withValue(4 << 20) {
                let error = await PostgresTest.error { _ = try await pool.query(Self.megabytes, [100]) }
                #expect(error?.code == .resultTooLarge && error?.isRetryable == false)
                let few = try await pool.query(Self.megabytes, [2])
                #expect(few.count == 2)
            }
        }
        await PostgresBorrower.$current.withValue(PostgresBorrower(user: "someone")) {
            await PostgresResultLimit.$bytes.withValue(4 << 20) {
                let error = await PostgresTest.error { _ = try await pool.query(Self.megabytes, [100]) }
                #expect(error?.code == .resultTooLarge, "the limit also holds on a borrowed connection")
            }
        }
        let statements = [PostgresStatement("SELECT 1"), PostgresStatement(Self.megabytes, [100])]
        await PostgresResultLimit.$bytes.withValue(4 << 20) {
            let error = await PostgresTest.error { _ = try await connection.pipeline(statements) }
            #expect(error?.code == .resultTooLarge)
        }
        #expect(connection.transactionStatus == .closed)
        #expect(try await pool.query(Self.megabytes, [10]).count == 10, "without a limit, answers may have any size")
        await pool.shutdown()
    }

    @Test("bytes that wait while an answer is read bit by bit are counted once")
    func manyRows() async throws {
        let connection = try await PostgresTest.connect()
        try await PostgresResultLimit.$bytes.withValue(8 << 20) {
            let kilobytes = "SELECT repeat('x', 1000) FROM generate_series(1, $1::int8)"
            for _ in 0..<3 {
                let many = try await connection.query(kilobytes, [3_000])
                #expect(many.count == 3_000)
            }
        }
    }

    @Test("answers that are read in parts have no limit, and each other call has its own")
    func parts() async throws {
        let connection = try await PostgresTest.connect()
        try await PostgresResultLimit.$bytes.withValue(4 << 20) {
            for _ in 0..<5 {
                let few = try await connection.query(Self.megabytes, [3])
                #expect(few.count == 3)
            }
            var bytes = 0
            try await connection.copyOut("COPY (SELECT repeat('x', 1000000) FROM generate_series(1, 12)) TO STDOUT") {
                bytes += $0.count
            }
            #expect(bytes > 12_000_000)
            var rows = 0
            try await connection.stream(Self.megabytes, [12]) { rows += $0.count }
            #expect(rows == 12)
        }
    }
}
