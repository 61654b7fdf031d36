import Foundation
import PostgresClient
import TestSupport
import Testing

@Suite struct BulkTests {
    struct Stop: Error {}

    private func filled() async throws -> PostgresConnection {
        let connection = try await PostgresTest.connect()
        try await connection.execute(
            """
            CREATE TABLE t (n int8, body text);
            INSERT INTO t SELECT i, repeat('x', 20) FROM generate_series(1, 100000) i
            """
        )
        return connection
    }

    @Test("COPY moves 100,000 rows in and out")
    func copyRoundTrip() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8, body text)")
        var number = 0
        let rows = try await connection.copyIn("COPY t FROM STDIN") { () -> [UInt8]? in
            guard number < 100_000 else { return nil }
            var chunk = ""
            for _ in 0..<1_000 {
                chunk += "\(number)\tbody of \(number)\n"
                number += 1
            }
            return Array(chunk.utf8)
        }
        #expect(rows == 100_000)
        var lines = 0
        var sum = 0
        try await connection.copyOut("COPY t TO STDOUT") { chunk in
            for line in chunk.split(separator: UInt8(ascii: "\n")) {
                lines += 1
                sum += Int(String(decoding: line.prefix { $0 != 9 }, as: UTF8.self)) ?? 0
            }
        }
        #expect(lines == 100_000)
        #expect(sum == 100_000 * 99_999 / 2)
    }

    @Test("COPY takes chunks of Data or bytes, and rows may span chunks")
    func chunkTypes() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8)")
        // Rows span chunks.
        #expect(try await connection.copyIn("COPY t FROM STDIN", chunks: [Data("1\n2".utf8), Data("3\n".utf8)]) == 2)
        let stream = AsyncStream<[UInt8]> { continuation in
            continuation.yield(Array("7\n".utf8))
            continuation.finish()
        }
        #expect(try await connection.copyIn("COPY t FROM STDIN", chunks: stream) == 1)
        #expect(try await connection.query("SELECT sum(n) FROM t")[0, 0].string == "31")
    }

    @Test("A sender that throws undoes the COPY and its error reaches the caller")
    func failingSender() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8)")
        var count = 0
        await #expect(throws: Stop.self) {
            try await connection.copyIn("COPY t FROM STDIN") { () -> [UInt8]? in
                count += 1
                if count > 10 { throw Stop() }
                return Array("1\n".utf8)
            }
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 0)
    }

    @Test("Bad COPY data gives the server's error with the line but not the data")
    func badCopyData() async throws {
        let connection = try await PostgresTest.connect()
        try await connection.execute("CREATE TABLE t (n int8)")
        let error = await PostgresTest.error {
            try await connection.copyIn("COPY t FROM STDIN", chunks: [Data("secret\n".utf8)])
        }
        #expect(error?.code == .invalidTextRepresentation)
        #expect(error?.context?.contains("line 1") == true)
        #expect(error?.description.contains("secret") == false)
        let wrong = await PostgresTest.error { try await connection.copyIn("SELECT 1", chunks: [Data()]) }
        #expect(wrong?.hint?.contains("COPY") == true)
        #expect(try await connection.query("SELECT 1").count == 1)
    }

    @Test("A consumer that throws cancels the COPY and the connection stays usable")
    func stoppingConsumer() async throws {
        let connection = try await filled()
        await #expect(throws: Stop.self) {
            try await connection.copyOut("COPY t TO STDOUT") { _ in throw Stop() }
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 100_000)
    }

    @Test("A stream delivers every row once and in order, at any batch size")
    func streamOrder() async throws {
        let connection = try await filled()
        for batch in [1_000, 999, 100_000, 300_000] {
            var next: Int64 = 1
            try await connection.stream("SELECT n FROM t WHERE n > $1 ORDER BY n", [0], batch: batch) { rows in
                #expect(rows.count <= batch)
                for row in rows {
                    guard try row[0].int64 == next else { throw Stop() }
                    next += 1
                }
            }
            #expect(next == 100_001)
            #expect(connection.transactionStatus == .idle)
        }
        try await connection.stream("SELECT n FROM t WHERE n < 0") { _ in throw Stop() }
    }

    @Test("A stream's batches are bounded in bytes, even when rows grow")
    func batchesAreBoundedInBytes() async throws {
        let connection = try await PostgresTest.connect()
        let (small, large, length) = (5_000, 100, 100_000)
        try await connection.execute(
            """
            CREATE TABLE t (n int8, body text);
            INSERT INTO t SELECT i, CASE WHEN i > \(small) THEN repeat('x', \(length)) END
            FROM generate_series(1, \(small + large)) i
            """)
        let limit = 1 << 20
        var next: Int64 = 1
        try await connection.stream(
            "SELECT n, body FROM t ORDER BY n", batch: 10_000, batchByteCount: limit
        ) { rows in
            #expect(rows.byteCount <= limit + 2 * length)
            for row in rows {
                let (number, body) = (try row[0].int64, try row[1].nonNull?.string)
                #expect(number == next)
                #expect(body?.utf8.count == (next > small ? length : nil))
                next += 1
            }
        }
        #expect(next == Int64(small + large) + 1)
        // Throw within a batch that was only partly read.
        try await connection.transaction { connection in
            await #expect(throws: Stop.self) {
                try await connection.stream(
                    "SELECT n, body FROM t ORDER BY n DESC", batch: 10_000, batchByteCount: limit
                ) { _ in throw Stop() }
            }
            let answer = try await connection.query("SELECT 1")
            #expect(answer.count == 1)
        }
    }

    @Test("A stream that ends early inside a transaction leaves the transaction open")
    func streamInTransaction() async throws {
        let connection = try await filled()
        try await connection.transaction { connection in
            try await connection.query("INSERT INTO t VALUES (0, '')")
            await #expect(throws: Stop.self) {
                try await connection.stream("SELECT n FROM t", batch: 10) { _ in throw Stop() }
            }
            var count = 0
            try await connection.stream("SELECT n FROM t", batch: 10_000) { count += $0.count }
            #expect(count == 100_001)
        }
        #expect(try await connection.query("SELECT count(*) FROM t")[0, 0].int64 == 100_001)
    }

    @Test("A query during a stream is refused, and errors of the streamed query reach the caller")
    func streamErrors() async throws {
        let connection = try await filled()
        let busy = await PostgresTest.error {
            try await connection.stream("SELECT n FROM t", batch: 10) { _ in try await connection.query("SELECT 1") }
        }
        #expect(busy?.code == .objectInUse)
        let failing = await PostgresTest.error {
            try await connection.stream("SELECT 1 / (50000 - n) FROM t", batch: 100) { _ in }
        }
        #expect(failing?.code == "22012")
        let wrong = await PostgresTest.error { try await connection.stream("SELECT nonsense") { _ in } }
        #expect(wrong?.code == .undefinedColumn)
        #expect(connection.transactionStatus == .idle)
        #expect(try await connection.query("SELECT 1").count == 1)
    }
}
